#include <hip/hip_runtime.h>

// Resize of an interleaved image with 8-bit channels, half-pixel centres, edges
// clamped. mode 0 takes the nearest pixel, mode 1 interpolates. All positions are
// 16.16 fixed point, so that the result is the same everywhere.
#define ONE 65536

__device__ inline int clampi(int v, int lo, int hi)
{
    return v < lo ? lo : (v > hi ? hi : v);
}

__device__ inline int source_pos(int dst, int src_size, int dst_size)
{
    const long long twice = (long long)(2 * dst + 1) * src_size * ONE;
    return (int)(twice / (2 * dst_size)) - ONE / 2;
}

__global__ void resize(const unsigned char* __restrict__ src,
                       unsigned char* __restrict__ dst,
                       int sw, int sh, int dw, int dh, int channels, int mode)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int c = blockIdx.z;
    if (x >= dw || y >= dh)
        return;

    const int fx = source_pos(x, sw, dw);
    const int fy = source_pos(y, sh, dh);
    unsigned result;

    if (mode == 0) {
        const int nx = clampi((fx + ONE / 2) >> 16, 0, sw - 1);
        const int ny = clampi((fy + ONE / 2) >> 16, 0, sh - 1);
        result = src[(ny * sw + nx) * channels + c];
    } else {
        const int x0 = clampi(fx >> 16, 0, sw - 1), x1 = clampi((fx >> 16) + 1, 0, sw - 1);
        const int y0 = clampi(fy >> 16, 0, sh - 1), y1 = clampi((fy >> 16) + 1, 0, sh - 1);
        const unsigned wx = (unsigned)(fx & (ONE - 1)) >> 8;   // 8 bits of weight
        const unsigned wy = (unsigned)(fy & (ONE - 1)) >> 8;
        const unsigned top = src[(y0 * sw + x0) * channels + c] * (256u - wx)
                           + src[(y0 * sw + x1) * channels + c] * wx;
        const unsigned low = src[(y1 * sw + x0) * channels + c] * (256u - wx)
                           + src[(y1 * sw + x1) * channels + c] * wx;
        result = (top * (256u - wy) + low * wy + 32768u) >> 16;
    }
    dst[(y * dw + x) * channels + c] = (unsigned char)result;
}
