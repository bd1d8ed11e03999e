#include <hip/hip_runtime.h>

#define GROUP 32

// A wave a group of 32: symmetric 4-bit codes, two to a byte (even element in the low half).
__global__ void quant_int4(const float* __restrict__ x, unsigned char* __restrict__ packed,
                           float* __restrict__ scales, int n, int groups)
{
    const int lane = threadIdx.x % GROUP;
    const int g = blockIdx.x * (blockDim.x / GROUP) + threadIdx.x / GROUP;
    if (g >= groups)
        return;

    const int i = g * GROUP + lane;
    float v = 0.0f;
    if (i < n) v = x[i];

    float amax = fabsf(v);
    for (int d = GROUP / 2; d > 0; d >>= 1)
        amax = fmaxf(amax, __shfl_xor(amax, d));

    const float scale = amax > 0.0f ? amax / 7.0f : 1.0f;
    int q = (int)rintf(v / scale);
    q = q > 7 ? 7 : (q < -8 ? -8 : q);

    const int upper = __shfl_down(q, 1);
    if ((lane & 1) == 0 && i < n)
        packed[i / 2] = (unsigned char)((q & 15) | ((upper & 15) << 4));
    if (lane == 0)
        scales[g] = scale;
}

__global__ void dequant_int4(const unsigned char* __restrict__ packed,
                             const float* __restrict__ scales, float* __restrict__ x, int n)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n) {
        const int byte = packed[t >> 1];
        int q = (t & 1) ? byte >> 4 : byte & 15;
        q = (q ^ 8) - 8;
        x[t] = (float)q * scales[t / GROUP];
    }
}
