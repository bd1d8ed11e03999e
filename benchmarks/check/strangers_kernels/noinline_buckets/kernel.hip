#include <hip/hip_runtime.h>

#define BUCKETS 40

// Kept out of line: all three kernels below share it.
__device__ __noinline__ unsigned int mix32(unsigned int h, unsigned int salt)
{
    h ^= salt;
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    h ^= h >> 16;
    return h;
}

__global__ void hash_keys(const unsigned int* __restrict__ keys, unsigned int* __restrict__ out,
                          int n, unsigned int salt)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n)
        out[t] = mix32(keys[t], salt);
}

__global__ void bucket_count(const unsigned int* __restrict__ keys, int* __restrict__ counts,
                             int n, unsigned int salt)
{
    __shared__ int hist[BUCKETS];

    for (int b = threadIdx.x; b < BUCKETS; b += blockDim.x)
        hist[b] = 0;
    __syncthreads();  // cleared

    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const unsigned int h = mix32(keys[i], salt);
        atomicAdd(&hist[h % BUCKETS], 1);
    }
    __syncthreads();  // counted

    for (int b = threadIdx.x; b < BUCKETS; b += blockDim.x) {
        const int c = hist[b];
        if (c > 0)
            atomicAdd(&counts[b], c);
    }
}

__global__ void bucket_fill(const unsigned int* __restrict__ keys, int* __restrict__ cursor,
                            unsigned int* __restrict__ slots, int n, unsigned int salt)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) {
        const unsigned int bucket = mix32(keys[j], salt) % BUCKETS;
        slots[atomicAdd(&cursor[bucket], 1)] = keys[j];
    }
}
