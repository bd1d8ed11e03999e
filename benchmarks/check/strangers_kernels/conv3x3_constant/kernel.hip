#include <hip/hip_runtime.h>

// 3 x 3 filter with its weights in constant memory; the image's edge pixels
// are repeated outwards. No symmetry in the weights.

#define TX 16
#define TY 8

__constant__ float taps[9] = {
     0.50f, -1.25f,  0.75f,
     2.00f,  0.25f, -0.50f,
    -1.00f,  1.50f,  0.125f,
};

__global__ void filter3x3(const float* __restrict__ src, float* __restrict__ dst,
                          int w, int h, float bias)
{
    const int x = blockIdx.x * TX + threadIdx.x;
    const int y = blockIdx.y * TY + threadIdx.y;
    if (x >= w || y >= h)
        return;

    float acc = bias;
    for (int dy = -1; dy <= 1; ++dy) {
        int yy = y + dy;
        if (yy < 0) yy = 0;
        if (yy > h - 1) yy = h - 1;
        for (int dx = -1; dx <= 1; ++dx) {
            int xx = x + dx;
            if (xx < 0) xx = 0;
            if (xx > w - 1) xx = w - 1;
            acc += taps[(dy + 1) * 3 + (dx + 1)] * src[yy * w + xx];
        }
    }
    dst[y * w + x] = acc;
}
