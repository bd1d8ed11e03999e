#include <hip/hip_runtime.h>

// One block per row: every thread keeps its own four best, then the lists are
// merged pairwise in LDS. Output per row: the four largest values, descending.
#define K 4
#define THREADS 64

__device__ inline void push(float (&best)[K], float v)
{
    if (v <= best[K - 1])
        return;
    best[K - 1] = v;
#pragma unroll
    for (int i = K - 1; i > 0; --i) {
        if (best[i] > best[i - 1]) {
            float t = best[i];
            best[i] = best[i - 1];
            best[i - 1] = t;
        }
    }
}

__global__ void __launch_bounds__(THREADS)
topk_rows(const float* __restrict__ in, float* __restrict__ out, int cols)
{
    __shared__ float lists[THREADS][K];
    const int tid = threadIdx.x;
    const float* row = in + (size_t)blockIdx.x * cols;

    float best[K];
#pragma unroll
    for (int i = 0; i < K; ++i)
        best[i] = -3.0e38f;

    for (int c = tid; c < cols; c += THREADS)
        push(best, row[c]);

#pragma unroll
    for (int i = 0; i < K; ++i)
        lists[tid][i] = best[i];
    __syncthreads();

    for (int half = THREADS / 2; half > 0; half >>= 1) {
        if (tid < half) {
#pragma unroll
            for (int i = 0; i < K; ++i)
                push(best, lists[tid + half][i]);
#pragma unroll
            for (int i = 0; i < K; ++i)
                lists[tid][i] = best[i];
        }
        __syncthreads();
    }

    if (tid < K)
        out[blockIdx.x * K + tid] = lists[0][tid];
}
