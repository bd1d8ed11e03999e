#include <hip/hip_runtime.h>
// Tree sum with barriers while the distance is at least `edge`, and without them below.
__global__ void tree_sum(const float* x, float* out, int n, int edge) {
    __shared__ volatile float s[128];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * n + t];
    __syncthreads();
    int d = n / 2;
    for (; d >= edge; d >>= 1) {
        if (t < d) s[t] = s[t] + s[t + d];
        __syncthreads();
    }
    for (; d > 0; d >>= 1) {
        if (t < d) s[t] = s[t] + s[t + d];
        __builtin_amdgcn_wave_barrier();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
