// Layer normalisation and GELU in bfloat16: mathematics of the device, dynamic shared memory, std:: functions.
#include <hip/hip_bf16.h>
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>

__device__ float gelu(float x) { return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))); }

extern "C" __global__ void __launch_bounds__(64) layer_norm(const __hip_bfloat16 *x, __hip_bfloat16 *y, float *extra, int n, float epsilon) {
    HIP_DYNAMIC_SHARED(float, shared)
    const __hip_bfloat16 *row = x + (size_t)blockIdx.x * n;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float v = __bfloat162float(row[i]);
        sum += v;
        squares += v * v;
    }
    shared[threadIdx.x] = sum;
    shared[blockDim.x + threadIdx.x] = squares;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (threadIdx.x < w) {
            shared[threadIdx.x] += shared[threadIdx.x + w];
            shared[blockDim.x + threadIdx.x] += shared[blockDim.x + threadIdx.x + w];
        }
        __syncthreads();
    }
    const float mean = shared[0] / n, variance = shared[blockDim.x] / n - mean * mean;
    const float factor = rsqrtf(std::max(variance, 0.0f) + epsilon);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[(size_t)blockIdx.x * n + i] = __float2bfloat16(gelu((__bfloat162float(row[i]) - mean) * factor));
    if (threadIdx.x < 8) {
        const float v = 0.25f + threadIdx.x;
        extra[blockIdx.x * 8 + threadIdx.x] = powf(v, 1.5f) + expf(-v) + std::exp(-v) + logf(v) + erff(v) + std::sqrt(v);
    }
}
