#include <hip/hip_runtime.h>
// Sum over workgroups where the one with the highest number takes itself for the last, without looking at the counter.
__global__ void sum_all(const float* x, float* partial, int* count, float* out, int n, int blocks) {
    __shared__ float s[64];
    int t = threadIdx.x, b = blockIdx.x;
    s[t] = x[b * n + t];
    __syncthreads();
    if (t == 0) {
        float a = 0.0f;
        for (int i = 0; i < n; i++) a += s[i];
        partial[b] = a;
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
        if (b < blocks - 1) atomicAdd(&count[0], 1);
    }
    __syncthreads();
    if (b == blocks - 1) {
        float a = 0.0f;
        for (int i = 0; i < blocks; i++) a += partial[i];
        out[t] = a * (float)(t + 1);
    }
}
