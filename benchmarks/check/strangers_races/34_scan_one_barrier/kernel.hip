#include <hip/hip_runtime.h>
// Inclusive scan with the barrier between read and store left out.
__global__ void scan(const int* x, int* out, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    int base = blockIdx.x * n;
    s[t] = x[base + t];
    __syncthreads();
    for (int d = 1; d < n; d <<= 1) {
        int v = t >= d ? s[t - d] : 0;
        s[t] += v;
        __syncthreads();
    }
    out[base + t] = s[t];
}
