#include <hip/hip_runtime.h>
// Every wave reads one uniform word of its workgroup; thread 0 replaces it.
__global__ void step(int* cfg, int* out, int n) {
    int b = blockIdx.x;
    int t = threadIdx.x;
    int v = cfg[b];
    if (t == 0) cfg[b] = v + 1;
    out[b * n + t] = v * 3 + t;
}
