#include <hip/hip_runtime.h>
// All workgroups read one byte; workgroup `writer` replaces it after its own waves have read it.
__global__ void readers(unsigned char* state, const int* sel, int* out, int n, int writer) {
    int t = threadIdx.x, b = blockIdx.x;
    int at = sel[b * n + t];
    int v = state[at];
    out[b * n + t] = v + t;
    if (b == writer) {
        __syncthreads();
        if (t == 0) state[at] = (unsigned char)(v + 1);
    }
}
