#include <hip/hip_runtime.h>

// Stable rank sort: a thread counts the keys that go before its own, reading
// all keys tile by tile through LDS, then puts its key where it belongs.

#define TILE 64

__global__ void clear_words(int* p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = 0;
}

__global__ void rank_sort(const int* __restrict__ keys, int* __restrict__ sorted,
                          int* __restrict__ order, int n)
{
    __shared__ int tile[TILE];

    const int tid = threadIdx.x;
    const int i = blockIdx.x * TILE + tid;
    const int mine = i < n ? keys[i] : 0;
    int rank = 0;

    for (int base = 0; base < n; base += TILE) {
        if (base + tid < n)
            tile[tid] = keys[base + tid];
        __syncthreads();  // tile is full

        const int count = n - base < TILE ? n - base : TILE;
        for (int t = 0; t < count; ++t) {
            const int other = tile[t];
            if (other < mine || (other == mine && base + t < i))
                ++rank;
        }
        __syncthreads();  // tile may be overwritten
    }

    if (i < n) {
        sorted[rank] = mine;
        order[rank] = i;
    }
}
