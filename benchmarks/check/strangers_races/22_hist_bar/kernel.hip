#include <hip/hip_runtime.h>
// LDS histogram; a barrier between zeroing and counting.
__global__ void hist(const int* x, int* out, int bins, int per, int n) {
    __shared__ int h[64];
    int t = threadIdx.x;
    int base = blockIdx.x * per;
    if (t < bins) h[t] = x[base + t];
    __syncthreads();
    if (t < bins) h[t] = 0;
    __syncthreads();
    for (int i = t; i < per; i += n) atomicAdd(&h[x[base + i]], 1);
    __syncthreads();
    if (t < bins) out[blockIdx.x * bins + t] = h[t];
}
