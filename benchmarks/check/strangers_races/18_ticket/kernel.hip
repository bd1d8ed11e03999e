#include <hip/hip_runtime.h>
// A ticket from an atomic counter gives every thread its own output index.
__global__ void pack(const int* x, int* count, int* out, int n) {
    int i = blockIdx.x * n + threadIdx.x;
    int v = x[i];
    int slot = atomicAdd(&count[0], 1);
    out[slot] = v * 2;
}
