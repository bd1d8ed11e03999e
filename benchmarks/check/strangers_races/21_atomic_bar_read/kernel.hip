#include <hip/hip_runtime.h>
// Each wave adds to an LDS total atomically; after a barrier every thread reads the total.
__global__ void total_of(const int* x, int* out, int n) {
    __shared__ int total[1];
    int t = threadIdx.x;
    int base = blockIdx.x * n;
    if (t == 0) total[0] = 0;
    __syncthreads();
    if ((t & 31) == 0) atomicAdd(&total[0], x[base + t]);
    __syncthreads();
    out[base + t] = total[0] + x[base + t];
}
