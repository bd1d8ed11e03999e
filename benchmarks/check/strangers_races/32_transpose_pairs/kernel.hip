#include <hip/hip_runtime.h>
// In-place transpose: one workgroup swaps a pair of mirrored tiles.
__global__ void transpose(float* a, int n) {
    __shared__ float s[8][9];
    __shared__ float u[8][9];
    int tx = threadIdx.x, ty = threadIdx.y;
    int bx = blockIdx.x, by = blockIdx.y;
    if (bx >= by) {
        int here = (by * 8 + ty) * n + bx * 8 + tx;
        int there = (bx * 8 + ty) * n + by * 8 + tx;
        s[ty][tx] = a[here];
        u[ty][tx] = a[there];
        __syncthreads();
        a[there] = s[tx][ty];
        a[here] = u[tx][ty];
    }
}
