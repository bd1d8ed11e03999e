#include <hip/hip_runtime.h>
// Every wave reads one uniform word of its workgroup; after a barrier thread 0 replaces it.
__global__ void step(int* cfg, int* out, int n) {
    int b = blockIdx.x;
    int t = threadIdx.x;
    int v = cfg[b];
    __syncthreads();
    if (t == 0) cfg[b] = v + 1;
    out[b * n + t] = v * 3 + t;
}
