#include <hip/hip_runtime.h>

// residual += x; out = residual / rms(residual) * weight. Halves in memory,
// floats in between; the summed row waits in dynamic LDS.

#define THREADS 96
#define WAVES (THREADS / 32)

__global__ void add_rmsnorm(_Float16* x, _Float16* residual, _Float16* weight,
                            _Float16* out, int cols, float eps)
{
    extern __shared__ float line[];
    __shared__ float part[WAVES];

    const int tid = threadIdx.x;
    const int lane = tid % 32;
    const int wave = tid / 32;
    const int start = blockIdx.x * cols;

    float sq = 0.0f;
    for (int c = tid; c < cols; c += THREADS) {
        const int at = start + c;
        const float h = (float)x[at] + (float)residual[at];
        residual[at] = (_Float16)h;
        line[c] = h;
        sq += h * h;
    }

    for (int d = 16; d > 0; d /= 2)
        sq += __shfl_xor(sq, d);
    if (lane == 0)
        part[wave] = sq;
    __syncthreads();

    float total = 0.0f;
    for (int w = 0; w < WAVES; ++w)
        total += part[w];
    const float scale = 1.0f / sqrtf(total / (float)cols + eps);

    for (int c = tid; c < cols; c += THREADS)
        out[start + c] = (_Float16)(line[c] * scale * (float)weight[c]);
}
