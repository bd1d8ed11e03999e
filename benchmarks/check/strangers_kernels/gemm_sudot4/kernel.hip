#include <hip/hip_runtime.h>

// Quantised matrix product: unsigned activations (m x k), signed weights
// (n x k), four bytes to a word along k, 16 x 16 tiles of words in LDS.
// out = (a . w) * scale of the row * scale of the column

#define TILE 16

__global__ void __launch_bounds__(TILE* TILE)
qgemm(const int* __restrict__ a, const int* __restrict__ w, const float* __restrict__ row_scale,
      const float* __restrict__ col_scale, float* __restrict__ out, int m, int n, int words)
{
    __shared__ int ta[TILE][TILE + 1];
    __shared__ int tw[TILE][TILE + 1];

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;
    const int wrow = blockIdx.x * TILE + ty;  // the weight row this thread loads

    int acc = 0;
    for (int w0 = 0; w0 < words; w0 += TILE) {
        const int at = w0 + tx;
        ta[ty][tx] = (row < m && at < words) ? a[row * words + at] : 0;
        tw[ty][tx] = (wrow < n && at < words) ? w[wrow * words + at] : 0;
        __syncthreads();  // tiles loaded

#pragma unroll
        for (int t = 0; t < TILE; ++t)
            acc = __builtin_amdgcn_sudot4(false, ta[ty][t], true, tw[tx][t], acc, false);
        __syncthreads();  // tiles used up
    }

    if (row < m && col < n)
        out[row * n + col] = (float)acc * row_scale[row] * col_scale[col];
}
