#include <hip/hip_runtime.h>

// Argmax over a float vector: value and index are packed into one 64-bit key
// whose unsigned order is (value ascending, index descending), so that a plain
// atomicMax picks the first of equal maxima.
typedef unsigned long long u64;

__device__ inline unsigned ordered_bits(float f)
{
    unsigned u = __builtin_bit_cast(unsigned, f);
    return (u & 0x80000000u) ? ~u : (u | 0x80000000u);
}

__device__ inline u64 make_key(float f, unsigned index)
{
    return ((u64)ordered_bits(f) << 32) | (u64)(0xffffffffu - index);
}

__global__ void argmax_packed(const float* __restrict__ x,
                              u64* __restrict__ result,
                              int n)
{
    __shared__ u64 block_best;
    if (threadIdx.x == 0)
        block_best = 0ull;
    __syncthreads();

    u64 mine = 0ull;
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        u64 key = make_key(x[i], (unsigned)i);
        mine = key > mine ? key : mine;
    }

    atomicMax(&block_best, mine);
    __syncthreads();

    if (threadIdx.x == 0)
        atomicMax(result, block_best);
}
