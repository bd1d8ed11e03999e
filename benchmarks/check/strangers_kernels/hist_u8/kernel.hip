#include <hip/hip_runtime.h>

// Histogram of bytes: a private table of 256 counters in LDS for each block,
// four bytes fetched with one load, the tables added up with atomics at the end.
#define BINS 256

__global__ void byte_histogram(const unsigned char* __restrict__ data,
                               unsigned* __restrict__ counts,
                               int n)
{
    __shared__ unsigned local[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        local[b] = 0u;
    __syncthreads();

    const unsigned* words = (const unsigned*)data;
    const int whole = n >> 2;
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;

    for (int i = t; i < whole; i += stride) {
        const unsigned w = words[i];
        atomicAdd(&local[w & 0xffu], 1u);
        atomicAdd(&local[(w >> 8) & 0xffu], 1u);
        atomicAdd(&local[(w >> 16) & 0xffu], 1u);
        atomicAdd(&local[w >> 24], 1u);
    }
    const int left = whole * 4 + t;
    if (left < n)
        atomicAdd(&local[data[left]], 1u);
    __syncthreads();

    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        const unsigned c = local[b];
        if (c != 0u)
            atomicAdd(&counts[b], c);
    }
}
