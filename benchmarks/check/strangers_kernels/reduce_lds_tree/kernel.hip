#include <hip/hip_runtime.h>

// Every workgroup strides over the input and folds what it gathered in a
// tree held in LDS. One float per workgroup comes out.

#define THREADS 128

__global__ void __launch_bounds__(THREADS)
block_sums(const float* __restrict__ x, float* __restrict__ partial, int n)
{
    __shared__ float tree[THREADS];

    const int tid = threadIdx.x;
    const int step = gridDim.x * THREADS;

    float acc = 0.0f;
    for (int i = blockIdx.x * THREADS + tid; i < n; i += step)
        acc += x[i];

    tree[tid] = acc;
    __syncthreads();  // leaves ready

    for (int half = THREADS / 2; half > 0; half >>= 1) {
        if (tid < half)
            tree[tid] += tree[tid + half];
        __syncthreads();  // level finished
    }

    if (tid == 0)
        partial[blockIdx.x] = tree[0];
}
