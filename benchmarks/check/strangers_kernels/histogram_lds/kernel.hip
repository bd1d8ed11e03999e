#include <hip/hip_runtime.h>

// Histogram of bytes: private bins in LDS, merged into the global ones.

#define THREADS 128
#define BINS 256

__global__ void byte_histogram(const unsigned char* __restrict__ data,
                               unsigned int* counts, int n)
{
    __shared__ unsigned int bins[BINS];

    const int tid = threadIdx.x;
    for (int b = tid; b < BINS; b += THREADS) bins[b] = 0u;
    __syncthreads();  // all bins are clear

    const int step = gridDim.x * THREADS;
    for (int i = blockIdx.x * THREADS + tid; i < n; i += step) {
        const int key = data[i];
        atomicAdd(&bins[key], 1u);
    }
    __syncthreads();  // all bytes are counted

    for (int b = tid; b < BINS; b += THREADS) {
        const unsigned int c = bins[b];
        if (c != 0u)
            atomicAdd(&counts[b], c);
    }
}
