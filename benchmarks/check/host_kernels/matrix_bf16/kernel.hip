#include <hip/hip_runtime.h>

typedef short v16 __attribute__((ext_vector_type(16)));
typedef float v8 __attribute__((ext_vector_type(8)));

// C += A B of 16 x 16; the columns of B lie one after another.
__global__ void product(const short *a, const short *b, float *c)
{
    const int lane = threadIdx.x, at = lane & 15, upper = lane >> 4;
    v16 row, column;
    for (int k = 0; k < 16; ++k) row[k] = a[16 * at + k], column[k] = b[16 * at + k];
    v8 sum;
    for (int i = 0; i < 8; ++i) sum[i] = c[16 * (2 * i + upper) + at];
    sum = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(row, column, sum);
    for (int i = 0; i < 8; ++i) c[16 * (2 * i + upper) + at] = sum[i];
}
