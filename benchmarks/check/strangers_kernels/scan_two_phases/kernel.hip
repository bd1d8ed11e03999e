#include <hip/hip_runtime.h>

#define TILE 128

// A grid-wide inclusive scan without a grid barrier: the two phases are two launches.

// Phase 1: each block scans its tile and leaves the tile's total.
__global__ __launch_bounds__(TILE) void scan_tiles(const int* __restrict__ x,
                                                   int* __restrict__ y,
                                                   int* __restrict__ totals, int n)
{
    __shared__ int buf[2][TILE];

    const int tid = threadIdx.x;
    const int i = blockIdx.x * TILE + tid;
    buf[0][tid] = i < n ? x[i] : 0;
    int src = 0;
    __syncthreads();  // tile loaded

    for (int d = 1; d < TILE; d <<= 1) {
        int v = buf[src][tid];
        if (tid >= d)
            v += buf[src][tid - d];
        src ^= 1;
        buf[src][tid] = v;
        __syncthreads();  // round done
    }

    const int mine = buf[src][tid];
    if (i < n)
        y[i] = mine;
    if (tid == TILE - 1)
        totals[blockIdx.x] = mine;
}

// Phase 2: each block adds up the totals of the tiles before it.
__global__ __launch_bounds__(TILE) void add_offsets(int* __restrict__ y,
                                                    const int* __restrict__ totals, int n)
{
    __shared__ int offset;

    if (threadIdx.x == 0) {
        int sum = 0;
        for (int b = 0; b < (int)blockIdx.x; ++b)
            sum += totals[b];
        offset = sum;
    }
    __syncthreads();  // offset known

    const int k = blockIdx.x * TILE + threadIdx.x;
    if (k < n)
        y[k] += offset;
}
