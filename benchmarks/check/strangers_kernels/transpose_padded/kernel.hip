#include <hip/hip_runtime.h>

// out[c][r] = in[r][c]; 32 x 32 tiles, moved by 32 x 8 threads. The spare
// column keeps the column reads off one LDS bank.

#define TILE 32
#define STEP 8

__global__ void transpose_plain(const float* in, float* out, int rows, int cols)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    const int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols)
        out[c * rows + r] = in[r * cols + c];
}

__global__ void __launch_bounds__(TILE* STEP)
transpose_tiled(const float* __restrict__ in, float* __restrict__ out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;

    const int cin = blockIdx.x * TILE + tx;
    for (int k = 0; k < TILE; k += STEP) {
        const int rin = blockIdx.y * TILE + ty + k;
        if (rin < rows && cin < cols)
            tile[ty + k][tx] = in[rin * cols + cin];
    }
    __syncthreads();

    const int xo = blockIdx.y * TILE + tx;
    for (int m = 0; m < TILE; m += STEP) {
        const int yo = blockIdx.x * TILE + ty + m;
        if (xo < rows && yo < cols)
            out[yo * rows + xo] = tile[tx][ty + m];
    }
}
