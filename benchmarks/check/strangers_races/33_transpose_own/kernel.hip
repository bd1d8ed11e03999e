#include <hip/hip_runtime.h>
// In-place transpose: every workgroup reads its own tile and writes the mirrored one.
__global__ void transpose(float* a, int n) {
    __shared__ float s[8][9];
    int tx = threadIdx.x, ty = threadIdx.y;
    int bx = blockIdx.x, by = blockIdx.y;
    int here = (by * 8 + ty) * n + bx * 8 + tx;
    int there = (bx * 8 + ty) * n + by * 8 + tx;
    s[ty][tx] = a[here];
    __syncthreads();
    a[there] = s[tx][ty];
}
