#include <hip/hip_runtime.h>
// Three-point stencil from one array into another; all workgroups read the weights.
__global__ void smooth(const float* a, const float* w, float* out, int n, int total) {
    int i = blockIdx.x * n + threadIdx.x;
    float l = i > 0 ? a[i - 1] : 0.0f;
    float c = a[i];
    float r = i + 1 < total ? a[i + 1] : 0.0f;
    float v = w[0] * l + w[1] * c + w[2] * r;
    out[i] = v;
}
