#include <hip/hip_runtime.h>

// Nearest centroid of each point; the centroids are cached in dynamic LDS (k * dim floats).
__global__ void kmeans_assign(const float* __restrict__ points,
                              const float* __restrict__ centroids,
                              int* __restrict__ label, float* __restrict__ dist2,
                              int* __restrict__ sizes, int n, int k, int dim)
{
    extern __shared__ float cache[];

    for (int e = threadIdx.x; e < k * dim; e += blockDim.x)
        cache[e] = centroids[e];
    __syncthreads();

    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;

    const float* p = points + i * dim;
    float best = 3.0e38f;
    int arg = 0;
    for (int c = 0; c < k; ++c) {
        float s = 0.0f;
        for (int d = 0; d < dim; ++d) {
            const float diff = p[d] - cache[c * dim + d];
            s += diff * diff;
        }
        if (s < best) {
            best = s;
            arg = c;
        }
    }

    label[i] = arg;
    dist2[i] = best;
    atomicAdd(&sizes[arg], 1);
}
