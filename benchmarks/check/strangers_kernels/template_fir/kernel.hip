#include <hip/hip_runtime.h>

#define BLOCK 64

// Causal FIR filter of N taps; x before the start counts as zero.
template <typename T, int N>
__global__ void fir_block(const T* __restrict__ x, const T* __restrict__ taps,
                          T* __restrict__ y, int n)
{
    __shared__ T seg[BLOCK + N - 1];
    __shared__ T h[N];

    const int tid = threadIdx.x;
    const int base = blockIdx.x * BLOCK;

    for (int i = tid; i < BLOCK + N - 1; i += BLOCK) {
        const int g = base + i - (N - 1);
        seg[i] = (g >= 0 && g < n) ? x[g] : T(0);
    }
    if (tid < N)
        h[tid] = taps[tid];
    __syncthreads();

    if (base + tid < n) {
        T sum = T(0);
#pragma unroll
        for (int k = 0; k < N; ++k)
            sum += h[k] * seg[tid + N - 1 - k];
        y[base + tid] = sum;
    }
}

template __global__ void fir_block<float, 5>(const float* __restrict__, const float* __restrict__,
                                             float* __restrict__, int);
template __global__ void fir_block<int, 3>(const int* __restrict__, const int* __restrict__,
                                           int* __restrict__, int);
