#include <hip/hip_runtime.h>

// One weighted Jacobi step for -laplace(u) = f on a rectangle, fixed boundary:
//   new = u + omega * ((h2 * f + left + right + up + down) / 4 - u)
// A 16 x 8 tile with its halo is staged in LDS.
#define TX 16
#define TY 8

__global__ void jacobi_step(const double* __restrict__ u,
                            const double* __restrict__ f,
                            double* __restrict__ next,
                            int width, int height,
                            double h2, double omega)
{
    __shared__ double tile[TY + 2][TX + 2];
    const int x0 = blockIdx.x * TX - 1;
    const int y0 = blockIdx.y * TY - 1;
    const int tid = threadIdx.y * TX + threadIdx.x;

    for (int i = tid; i < (TX + 2) * (TY + 2); i += TX * TY) {
        const int ly = i / (TX + 2);
        const int lx = i % (TX + 2);
        const int gx = x0 + lx;
        const int gy = y0 + ly;
        const bool inside = gx >= 0 && gx < width && gy >= 0 && gy < height;
        tile[ly][lx] = inside ? u[gy * width + gx] : 0.0;
    }
    __syncthreads();

    const int x = blockIdx.x * TX + threadIdx.x;
    const int y = blockIdx.y * TY + threadIdx.y;
    if (x >= width || y >= height)
        return;

    const int lx = threadIdx.x + 1;
    const int ly = threadIdx.y + 1;
    double value = tile[ly][lx];
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        const double around = tile[ly][lx - 1] + tile[ly][lx + 1]
                            + tile[ly - 1][lx] + tile[ly + 1][lx];
        value += omega * (0.25 * (h2 * f[y * width + x] + around) - value);
    }
    next[y * width + x] = value;
}
