#include <hip/hip_runtime.h>
// Thread 0 puts a value into LDS; every wave reads it as a uniform value.
__global__ void bcast(const float* x, float* out, int n, int pick) {
    __shared__ float s[4];
    int t = threadIdx.x;
    int base = blockIdx.x * n;
    if (t < 4) s[t] = x[base + t];
    __syncthreads();
    if (t == 0) s[pick] = x[base + n - 1];
    float v = s[pick];
    out[base + t] = v * x[base + t];
}
