#include <hip/hip_runtime.h>

// out = alpha * x + y on bfloat16 arrays, kept as raw 16-bit words. Two elements
// travel in one 32-bit word; an odd count leaves a single element at the end.
__device__ inline float bf16_to_float(unsigned bits)
{
    return __builtin_bit_cast(float, bits << 16);
}

__device__ inline unsigned float_to_bf16(float f)
{
    const unsigned u = __builtin_bit_cast(unsigned, f);
    if ((u & 0x7fffffffu) > 0x7f800000u)      // NaN: keep it one
        return (u >> 16) | 0x40u;
    return (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;   // to nearest, ties to even
}

__device__ inline unsigned scale_add(unsigned x, unsigned y, float alpha)
{
    return float_to_bf16(fmaf(alpha, bf16_to_float(x), bf16_to_float(y)));
}

__global__ void bf16_axpy(const unsigned short* __restrict__ x,
                          const unsigned short* __restrict__ y,
                          unsigned short* __restrict__ out,
                          float alpha,
                          int n)
{
    const int pairs = n / 2;
    const unsigned* x2 = (const unsigned*)x;
    const unsigned* y2 = (const unsigned*)y;
    unsigned* out2 = (unsigned*)out;

    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;

    for (int i = t; i < pairs; i += stride) {
        const unsigned a = x2[i];
        const unsigned b = y2[i];
        const unsigned lo = scale_add(a & 0xffffu, b & 0xffffu, alpha);
        const unsigned hi = scale_add(a >> 16, b >> 16, alpha);
        out2[i] = lo | (hi << 16);
    }

    if (t == 0 && (n & 1))
        out[n - 1] = (unsigned short)scale_add(x[n - 1], y[n - 1], alpha);
}
