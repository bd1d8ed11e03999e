#include <hip/hip_runtime.h>
// Hand-over by atomic exchange: workgroup 1 uses the data only if the exchange says that it is there.
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
        if (t == 0) {
            got[0] = atomicExch(&flag[0], 2);
            __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
        }
        __syncthreads();
        float v = -1.0f;
        if (got[0] == 1) {
            __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
            v = data[t];
        }
        out[t] = v;
    }
}
