#include <hip/hip_runtime.h>

#define BLOCK 64

// 1 sign, 5 exponent (bias 15), 2 mantissa bits. Infinities and NaNs saturate at 57344.
__device__ float decode_e5m2(unsigned int b)
{
    const unsigned int sign = (b & 0x80u) << 24;
    const unsigned int e = (b >> 2) & 31u;
    const unsigned int m = b & 3u;

    union {
        unsigned int u;
        float f;
    } v;
    if (e == 31u) {
        v.u = (142u << 23) | (3u << 21);
    } else if (e == 0u) {
        v.f = (float)m * 1.52587890625e-05f;
    } else {
        v.u = ((e + 112u) << 23) | (m << 21);
    }
    v.u |= sign;
    return v.f;
}

// y = a * b * row_scale * col_scale with a and b in e5m2; the 256 values are tabled in LDS.
__global__ void e5m2_scaled_product(const unsigned char* __restrict__ a,
                                    const unsigned char* __restrict__ b,
                                    const float* __restrict__ row_scale,
                                    const float* __restrict__ col_scale,
                                    float* __restrict__ y, int cols)
{
    __shared__ float table[256];

    for (unsigned int i = threadIdx.x; i < 256u; i += BLOCK)
        table[i] = decode_e5m2(i);
    __syncthreads();

    const int r = blockIdx.y;
    const int c = blockIdx.x * BLOCK + threadIdx.x;
    if (c >= cols)
        return;

    const long long at = (long long)r * cols + c;
    const float scale = row_scale[r] * col_scale[c];
    y[at] = table[a[at]] * table[b[at]] * scale;
}
