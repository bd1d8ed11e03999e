#include <hip/hip_runtime.h>

#define TILE 16
#define KS 3
#define RAD (KS / 2)
#define SPAN (TILE + KS - 1)

// One channel a grid layer; zero padding, same size out.
__global__ void dwconv3x3(const float* __restrict__ x, const float* __restrict__ weight,
                          const float* __restrict__ bias, float* __restrict__ y,
                          int h, int w)
{
    __shared__ float patch[SPAN][SPAN];
    __shared__ float taps[KS * KS];

    const int tid = threadIdx.y * TILE + threadIdx.x;
    const int c = blockIdx.z;
    const int y0 = blockIdx.y * TILE;
    const int x0 = blockIdx.x * TILE;
    const float* src = x + c * h * w;

    if (tid < KS * KS)
        taps[tid] = weight[c * KS * KS + tid];

    for (int e = tid; e < SPAN * SPAN; e += TILE * TILE) {
        const int py = e / SPAN;
        const int px = e % SPAN;
        const int gy = y0 + py - RAD;
        const int gx = x0 + px - RAD;
        float v = 0.0f;
        if (gy >= 0 && gy < h && gx >= 0 && gx < w)
            v = src[gy * w + gx];
        patch[py][px] = v;
    }
    __syncthreads();

    const int oy = y0 + threadIdx.y;
    const int ox = x0 + threadIdx.x;
    if (oy < h && ox < w) {
        float acc = bias[c];
#pragma unroll
        for (int dy = 0; dy < KS; ++dy)
#pragma unroll
            for (int dx = 0; dx < KS; ++dx)
                acc += taps[dy * KS + dx] * patch[threadIdx.y + dy][threadIdx.x + dx];
        y[(c * h + oy) * w + ox] = acc;
    }
}
