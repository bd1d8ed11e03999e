#include <hip/hip_runtime.h>
// Workgroup 0 writes a byte and all its waves read it after a barrier; the others read a byte of the same dword.
__global__ void far_reader(unsigned char* state, const int* sel, int* out, int n, int at, int v) {
    int t = threadIdx.x, b = blockIdx.x;
    if (b == 0) {
        if (t == 0) state[at] = (unsigned char)v;
        __syncthreads();
    }
    int r = state[sel[b]];
    out[b * n + t] = r * 2 + t;
}
