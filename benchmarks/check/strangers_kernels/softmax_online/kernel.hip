#include <hip/hip_runtime.h>

// Softmax of each row. Every thread keeps a running maximum and a sum scaled
// to it, in one pass; the pairs are folded in LDS.

#define THREADS 128

__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int cols)
{
    __shared__ float tops[THREADS];
    __shared__ float sums[THREADS];

    const int tid = threadIdx.x;
    const int base = blockIdx.x * cols;

    float top = -3.0e38f;
    float sum = 0.0f;
    for (int c = tid; c < cols; c += THREADS) {
        const float v = x[base + c];
        if (v > top) {
            sum *= expf(top - v);
            top = v;
        }
        sum += expf(v - top);
    }

    tops[tid] = top;
    sums[tid] = sum;
    __syncthreads();  // pairs posted

    for (int half = THREADS / 2; half > 0; half >>= 1) {
        if (tid < half) {
            const float ta = tops[tid], tb = tops[tid + half];
            const float t = fmaxf(ta, tb);
            sums[tid] = sums[tid] * expf(ta - t) + sums[tid + half] * expf(tb - t);
            tops[tid] = t;
        }
        __syncthreads();  // level folded
    }

    const float shift = tops[0];
    const float inv = 1.0f / sums[0];
    for (int k = tid; k < cols; k += THREADS)
        y[base + k] = expf(x[base + k] - shift) * inv;
}
