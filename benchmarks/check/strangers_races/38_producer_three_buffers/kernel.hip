#include <hip/hip_runtime.h>
// Wave 0 fills one of three buffers while the other waves read the one filled a turn before; the barrier ends the turn.
__global__ void pipe(const float* x, float* out, int turns) {
    __shared__ float buf[3][32];
    int t = threadIdx.x;
    float acc = 0.0f;
    for (int k = 0; k <= turns; k++) {
        if (t < 32) {
            if (k < turns) buf[k % 3][t] = x[(blockIdx.x * turns + k) * 32 + t];
        } else if (k > 0) {
            acc = acc * 0.5f + buf[(k - 1) % 3][(t + k) & 31];
        }
        __syncthreads();
    }
    if (t >= 32) out[blockIdx.x * 64 + t - 32] = acc;
}
