#include <hip/hip_runtime.h>
// Wave sums by shuffles; in a branch that all threads take alike, they are combined behind a barrier.
__global__ void wave_sum(const int* x, int* out, int n, int waves, int combine) {
    __shared__ int s[4];
    int t = threadIdx.x;
    int base = blockIdx.x * n;
    int v = x[base + t];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor(v, d);
    if (combine) {
        if ((t & 31) == 0) s[t >> 5] = v;
        __syncthreads();
        v = 0;
        for (int i = 0; i < waves; i++) v += s[i];
    }
    out[base + t] = v;
}
