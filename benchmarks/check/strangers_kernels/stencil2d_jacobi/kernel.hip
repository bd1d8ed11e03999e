#include <hip/hip_runtime.h>

// One Jacobi step for laplace(u) = f on a grid; boundary points stay as
// they are. Tiles of 16 x 16 with one halo point around, corners unused.

#define T 16

__global__ void jacobi_step(const float* __restrict__ u, const float* __restrict__ f,
                            float* __restrict__ out, int nx, int ny, float h2)
{
    __shared__ float s[T + 2][T + 2];

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int gx = blockIdx.x * T + tx;
    const int gy = blockIdx.y * T + ty;
    const int at = gy * nx + gx;
    const bool inside = gx < nx && gy < ny;

    if (inside) {
        s[ty + 1][tx + 1] = u[at];
        if (tx == 0 && gx > 0)
            s[ty + 1][0] = u[at - 1];
        if (tx == T - 1 && gx < nx - 1)
            s[ty + 1][T + 1] = u[at + 1];
        if (ty == 0 && gy > 0)
            s[0][tx + 1] = u[at - nx];
        if (ty == T - 1 && gy < ny - 1)
            s[T + 1][tx + 1] = u[at + nx];
    }
    __syncthreads();

    if (!inside)
        return;

    if (gx == 0 || gy == 0 || gx == nx - 1 || gy == ny - 1) {
        out[at] = s[ty + 1][tx + 1];
    } else {
        const float around = s[ty][tx + 1] + s[ty + 2][tx + 1]
                           + s[ty + 1][tx] + s[ty + 1][tx + 2];
        out[at] = 0.25f * (around - h2 * f[at]);
    }
}
