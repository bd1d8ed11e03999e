#include <hip/hip_runtime.h>

// im2col for one NCHW image: the result has C*KH*KW rows and OH*OW columns.
// One thread makes the KH*KW entries of one channel and one output pixel.
struct ConvShape {
    int height, width, kh, kw, pad, stride, out_h, out_w;
};

__device__ inline void unfold(const float* plane, float* col, int oy, int ox, const ConvShape& s)
{
    const int columns = s.out_h * s.out_w;
    float* dst = col + oy * s.out_w + ox;
    for (int ky = 0; ky < s.kh; ++ky) {
        const int y = oy * s.stride - s.pad + ky;
        for (int kx = 0; kx < s.kw; ++kx) {
            const int x = ox * s.stride - s.pad + kx;
            const bool inside = y >= 0 && y < s.height && x >= 0 && x < s.width;
            *dst = inside ? plane[y * s.width + x] : 0.0f;
            dst += columns;
        }
    }
}

__global__ void im2col(const float* __restrict__ image,
                       float* __restrict__ cols,
                       int channels, int height, int width,
                       int kh, int kw, int pad, int stride,
                       int out_h, int out_w)
{
    const ConvShape s = {height, width, kh, kw, pad, stride, out_h, out_w};
    const int per_channel = out_h * out_w;
    const int items = channels * per_channel;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < items; i += gridDim.x * blockDim.x) {
        const int c = i / per_channel;
        const int pixel = i % per_channel;
        unfold(image + (size_t)c * height * width,
               cols + (size_t)c * kh * kw * per_channel,
               pixel / out_w, pixel % out_w, s);
    }
}
