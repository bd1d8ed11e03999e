#include <hip/hip_bf16.h>

__global__ void bfloats(const __hip_bfloat16 *x, const __hip_bfloat16 *y, __hip_bfloat16 *out, float *sums, int n)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    const __hip_bfloat16 a = x[t], b = y[t];
    out[3 * t] = __hadd(a, b);
    out[3 * t + 1] = __float2bfloat16(__bfloat162float(a) / __bfloat162float(b));
    out[3 * t + 2] = __hmul(__hsub(a, b), b);
    const __hip_bfloat162 pair = __floats2bfloat162_rn(float(a) * 3.0f, float(b) * 0.7f);
    const float2 both = __bfloat1622float2(pair);
    sums[t] = both.x + both.y;
}
