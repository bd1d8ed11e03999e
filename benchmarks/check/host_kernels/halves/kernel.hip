#include <hip/hip_fp16.h>

// Half precision by its own names, one at a time and in pairs.
__global__ void halves(const __half *x, const __half *y, __half *out, float *sums, int n)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    const __half a = x[t], b = y[t];
    __half *row = out + 12 * t;
    row[0] = a + b;
    row[1] = __hsub(a, b);
    row[2] = a * b;
    row[3] = a / b;
    row[4] = __hfma(a, b, row[0]);
    row[5] = __hlt(a, b) ? __hneg(a) : __habs(b);
    row[6] = __hmax(a, b);
    row[7] = __float2half(__half2float(a) * 1.001f);
    const __half2 p = __halves2half2(a, b), q = __hfma2(p, __float2half2_rn(0.3f), __hmul2(p, p));
    row[8] = q.x;
    row[9] = __high2half(q);
    row[10] = __int2half_rn(__half2int_rn(a * __float2half(100.0f)));
    row[11] = __ushort_as_half(__half_as_ushort(b) ^ 0x8000);
    sums[t] = __low2float(p) + __high2float(__hadd2(p, p));
}
