#include <hip/hip_runtime.h>

// Attention of one head in plain floats; a workgroup takes one query.

#define THREADS 64
#define MAX_KEYS 128
#define MAX_DIM 64

__global__ void __launch_bounds__(THREADS)
attend(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
       float* __restrict__ out, int keys, int dim, float scale)
{
    __shared__ float query[MAX_DIM];
    __shared__ float score[MAX_KEYS];
    __shared__ float red[THREADS];

    const int tid = threadIdx.x;
    const int row = blockIdx.x;

    for (int d = tid; d < dim; d += THREADS)
        query[d] = q[row * dim + d];
    __syncthreads();  // query staged

    float top = -3.0e38f;
    for (int j = tid; j < keys; j += THREADS) {
        float dot = 0.0f;
        for (int d = 0; d < dim; ++d)
            dot += query[d] * k[j * dim + d];
        score[j] = dot * scale;
        top = fmaxf(top, dot * scale);
    }

    red[tid] = top;
    __syncthreads();  // maxima posted
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (tid < half)
            red[tid] = fmaxf(red[tid], red[tid + half]);
        __syncthreads();  // one level of the maximum
    }
    top = red[0];
    __syncthreads();  // everybody has the maximum

    float sum = 0.0f;
    for (int m = tid; m < keys; m += THREADS) {
        const float e = expf(score[m] - top);
        score[m] = e;
        sum += e;
    }

    red[tid] = sum;
    __syncthreads();  // sums posted
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (tid < half)
            red[tid] += red[tid + half];
        __syncthreads();  // one level of the sum
    }
    const float inv = 1.0f / red[0];

    for (int d = tid; d < dim; d += THREADS) {
        float acc = 0.0f;
        for (int j = 0; j < keys; ++j)
            acc += score[j] * v[j * dim + d];
        out[row * dim + d] = acc * inv;
    }
}
