#include <hip/hip_runtime.h>

__device__ float gelu_tanh(float x)
{
    const float inner = 0.7978845608f * (x + 0.044715f * x * x * x);
    return 0.5f * x * (1.0f + tanhf(inner));
}

__device__ float silu(float x)
{
    return x / (1.0f + expf(-x));
}

// y = gelu(x) * silu(gate), as many elements a thread as the grid leaves it
__global__ void gated_act(const float* __restrict__ x, const float* __restrict__ gate,
                          float* __restrict__ y, int n)
{
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float g = gelu_tanh(x[i]);
        const float s = silu(gate[i]);
        y[i] = g * s;
    }
}
