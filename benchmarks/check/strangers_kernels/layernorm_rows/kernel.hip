#include <hip/hip_runtime.h>

// y = (x - mean) / sqrt(var + eps) * gamma + beta, one workgroup per row,
// mean first and then the variance around it.

#define THREADS 128
#define WAVES (THREADS / 32)

__device__ float block_sum(float v, float* scratch)
{
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_xor(v, d);
    if ((threadIdx.x & 31) == 0)
        scratch[threadIdx.x >> 5] = v;
    __syncthreads();  // partial sums are there
    float t = 0.0f;
    for (int w = 0; w < WAVES; ++w)
        t += scratch[w];
    __syncthreads();  // scratch may be used again
    return t;
}

__global__ void layernorm(const float* __restrict__ x, const float* __restrict__ gamma,
                          const float* __restrict__ beta, float* __restrict__ y,
                          int cols, float eps)
{
    __shared__ float scratch[WAVES];

    const int row = blockIdx.x;
    const float* xr = x + row * cols;
    float* yr = y + row * cols;

    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += THREADS)
        sum += xr[c];
    const float mean = block_sum(sum, scratch) / (float)cols;

    float sq = 0.0f;
    for (int c = threadIdx.x; c < cols; c += THREADS) {
        const float d = xr[c] - mean;
        sq += d * d;
    }
    const float var = block_sum(sq, scratch) / (float)(cols);
    const float inv = 1.0f / sqrtf(var + eps);

    for (int c = threadIdx.x; c < cols; c += THREADS)
        yr[c] = (xr[c] - mean) * inv * gamma[c] + beta[c];
}
