#include <hip/hip_runtime.h>

// Every operation is rounded by itself, so that counts compare exactly with the host.
#pragma clang fp contract(off)

__device__ int escape_count(float cx, float cy, int max_iter)
{
    float zx = 0.0f;
    float zy = 0.0f;
    int it = 0;
    while (it < max_iter) {
        const float zx2 = zx * zx;
        const float zy2 = zy * zy;
        if (zx2 + zy2 > 4.0f)
            break;
        zy = 2.0f * zx * zy + cy;
        zx = zx2 - zy2 + cx;
        ++it;
    }
    return it;
}

__global__ void mandelbrot(int* __restrict__ counts, int* __restrict__ inside,
                           int width, int height,
                           float x0, float y0, float step, int max_iter)
{
    const int px = blockIdx.x * blockDim.x + threadIdx.x;
    const int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;

    const float cx = x0 + step * (float)px;
    const float cy = y0 + step * (float)py;
    const int it = escape_count(cx, cy, max_iter);

    counts[py * width + px] = it;
    if (it == max_iter)
        atomicAdd(inside, 1);
}
