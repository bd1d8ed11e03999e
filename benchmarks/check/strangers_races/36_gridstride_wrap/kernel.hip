#include <hip/hip_runtime.h>
// Grid-stride writes that wrap at the end of the array, where they should stop.
__global__ void fill(const float* x, float* out, int n, int stride, int turns, int total) {
    int i = blockIdx.x * n + threadIdx.x;
    for (int k = 0; k < turns; k++) {
        int j = (i + k * stride) % total;
        out[j] = x[j] + (float)k;
    }
}
