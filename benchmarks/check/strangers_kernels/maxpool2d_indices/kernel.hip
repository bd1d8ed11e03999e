#include <hip/hip_runtime.h>

// x: [planes, h, w] -> y, idx: [planes, oh, ow]; idx is the flat place within the plane.
// Padding never wins.
__global__ void maxpool2d(const float* __restrict__ x, float* __restrict__ y,
                          int* __restrict__ idx, int h, int w, int oh, int ow,
                          int k, int stride, int pad)
{
    const int ox = blockIdx.x * blockDim.x + threadIdx.x;
    const int oy = blockIdx.y * blockDim.y + threadIdx.y;
    const int plane = blockIdx.z;
    if (ox >= ow || oy >= oh)
        return;

    const float* src = x + (long long)plane * h * w;
    const int top = oy * stride - pad;
    const int left = ox * stride - pad;

    float best = -3.402823e38f;
    int where = -1;
    for (int dy = 0; dy < k; ++dy) {
        const int iy = top + dy;
        if (iy < 0 || iy >= h)
            continue;
        for (int dx = 0; dx < k; ++dx) {
            const int ix = left + dx;
            if (ix < 0 || ix >= w)
                continue;
            const float v = src[iy * w + ix];
            if (v > best) {
                best = v;
                where = iy * w + ix;
            }
        }
    }

    const long long o = ((long long)plane * oh + oy) * ow + ox;
    y[o] = best;
    idx[o] = where;
}
