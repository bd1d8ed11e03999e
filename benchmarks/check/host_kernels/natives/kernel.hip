#include <hip/hip_runtime.h>

// Functions that the machine, or its library, rounds in its own way.
__global__ void natives(const float *x, float *out, int n)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    const float v = x[t];
    float *row = out + 16 * t;
    row[0] = expf(v);
    row[1] = exp2f(v);
    row[2] = logf(v);
    row[3] = log2f(v);
    row[4] = log10f(v);
    row[5] = sinf(v);
    row[6] = cosf(v);
    row[7] = rsqrtf(v);
    row[8] = tanhf(v);
    row[9] = powf(v, 1.7f);
    row[10] = __expf(v);
    row[11] = __logf(v);
    row[12] = __sinf(v);
    row[13] = __fdividef(3.0f, v);
    row[14] = sqrtf(v) + 1.0f / v;
    row[15] = fmodf(100.0f * v, 0.7f) + rintf(v * 8.0f) + floorf(-v);
}
