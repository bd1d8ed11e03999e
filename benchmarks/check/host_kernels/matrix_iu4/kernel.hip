#include <hip/hip_runtime.h>

typedef int v2 __attribute__((ext_vector_type(2)));
typedef int v4 __attribute__((ext_vector_type(4)));
typedef int v8 __attribute__((ext_vector_type(8)));

// Products of 4-bit and 8-bit integers, signed and not, with sums that are clamped and that wrap.
__global__ void products(const int *a, const int *b, const int *c, int *out)
{
    const int lane = threadIdx.x, at = lane & 15;
    v2 x, y;
    v4 p, q;
    v8 sum;
    for (int i = 0; i < 2; ++i) x[i] = a[4 * at + i], y[i] = b[4 * at + i];
    for (int i = 0; i < 4; ++i) p[i] = a[4 * at + i], q[i] = b[4 * at + i];
    for (int i = 0; i < 8; ++i) sum[i] = c[8 * lane + i];
    const v8 found[5] = {
        __builtin_amdgcn_wmma_i32_16x16x16_iu4_w32(true, x, true, y, sum, false),
        __builtin_amdgcn_wmma_i32_16x16x16_iu4_w32(false, x, true, y, sum, true),
        __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(false, p, false, q, sum, true),
        __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, p, false, q, sum, false),
        __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, p, true, q, sum, true),
    };
#pragma unroll
    for (int n = 0; n < 5; ++n)
#pragma unroll
        for (int i = 0; i < 8; ++i) out[256 * n + 8 * lane + i] = found[n][i];
}
