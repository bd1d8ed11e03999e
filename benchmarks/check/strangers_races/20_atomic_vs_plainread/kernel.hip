#include <hip/hip_runtime.h>
// One workgroup reads the counter plainly while the others add to it atomically.
__global__ void peek(const int* x, int* count, int* out, int n, int reader) {
    int b = blockIdx.x;
    int t = threadIdx.x;
    if (b == reader) {
        out[t] = count[0] + t;
    } else if (t == 0) {
        atomicAdd(&count[0], x[b]);
    }
}
