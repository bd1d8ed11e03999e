#include <hip/hip_runtime.h>

// y = A x + b with a row-major A whose row pitch is a multiple of four floats.
// One wave a row, float4 loads, and up to three columns left over.
#define ROWS_PER_BLOCK 4

__device__ inline float dot4(const float4& p, const float4& q)
{
    return p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
}

__global__ void gemv_rows(const float* __restrict__ A,
                          const float* __restrict__ x,
                          const float* __restrict__ bias,
                          float* __restrict__ y,
                          int rows, int cols, int pitch)
{
    const int lane = threadIdx.x;
    const int row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.y;
    if (row >= rows)           // uniform over the wave: blockDim.x is 32
        return;

    const float* a = A + (size_t)row * pitch;
    const float4* a4 = (const float4*)a;
    const float4* x4 = (const float4*)x;
    const int quads = cols / 4;

    float acc = 0.0f;
    for (int q = lane; q < quads; q += 32)
        acc += dot4(a4[q], x4[q]);

    const int c = quads * 4 + lane;
    if (c < cols)
        acc += a[c] * x[c];

    for (int d = 16; d > 0; d >>= 1)
        acc += __shfl_xor(acc, d);

    if (lane == 0)
        y[row] = acc + bias[row];
}
