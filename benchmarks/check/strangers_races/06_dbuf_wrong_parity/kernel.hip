#include <hip/hip_runtime.h>
// Double buffering with a wrong choice of buffer: two turns in a row use the same one.
__global__ void dbuf(const float* x, float* out, int n, int turns) {
    __shared__ float buf[2][128];
    int t = threadIdx.x;
    float acc = 0.0f;
    for (int k = 0; k < turns; k++) {
        int which = (k >> 1) & 1;
        buf[which][t] = x[k * n + t];
        __syncthreads();
        acc = acc * 0.5f + buf[which][n - 1 - t];
    }
    out[t] = acc;
}
