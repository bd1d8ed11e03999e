#include <hip/hip_runtime.h>
// Hand-over by atomic exchange, but workgroup 1 reads the data before it asks the flag.
__global__ void handover(const float* x, float* data, int* flag, float* out) {
    __shared__ int got[1];
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = x[t] * 2.0f;
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
        __syncthreads();
        if (t == 0) {
            __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
            atomicExch(&flag[0], 1);
        }
    } else {
        float v = data[t];
        if (t == 0) {
            got[0] = atomicExch(&flag[0], 2);
            __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
        }
        __syncthreads();
        out[t] = got[0] == 1 ? v : v - 1.0f;
    }
}
