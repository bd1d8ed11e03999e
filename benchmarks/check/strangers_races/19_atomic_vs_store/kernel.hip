#include <hip/hip_runtime.h>
// Workgroups add to a counter atomically; the last workgroup sets it by a plain store.
__global__ void count_up(const int* x, int* count, int n, int setter, int start) {
    int b = blockIdx.x;
    int t = threadIdx.x;
    if (b == setter) {
        if (t == 0) count[0] = start;
    } else if ((t & 31) == 0) {
        atomicAdd(&count[0], x[b * n + t]);
    }
}
