// Both fp8 formats to half with a scale per row, sixteen bytes at a time, and a table in constant memory.
#include "hip/hip_runtime.h"
#include "hip/hip_fp16.h"

__constant__ float kExponent[16] = {0.015625f, 0.015625f, 0.03125f, 0.0625f, 0.125f, 0.25f, 0.5f,  1.0f,
                                    2.0f,      4.0f,      8.0f,     16.0f,   32.0f,  64.0f, 128.0f, 256.0f};

__device__ __forceinline__ float e4m3(unsigned char byte) {
    const int exponent = byte >> 3 & 15, fraction = byte & 7;
    if ((byte & 127) == 127) return __uint_as_float(0x7fc00000u);
    const float size = (exponent ? 1.0f + fraction * 0.125f : fraction * 0.125f) * kExponent[exponent];
    return byte & 128 ? -size : size;
}

extern "C" __global__ __launch_bounds__(128) void dequant_e5m2(const uint4 *in, float4 *out, const float *scale, int vectors) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    const uint4 packed = in[i];
    const float s = scale[blockIdx.y];
    const unsigned words[4] = {packed.x, packed.y, packed.z, packed.w};
    for (int j = 0; j < 4; ++j) {
        float4 r;
        r.x = __half2float(__ushort_as_half(static_cast<unsigned short>(words[j] << 8))) * s;
        r.y = __half2float(__ushort_as_half(static_cast<unsigned short>(words[j] & 0xff00))) * s;
        r.z = __half2float(__ushort_as_half(static_cast<unsigned short>(words[j] >> 8 & 0xff00))) * s;
        r.w = __half2float(__ushort_as_half(static_cast<unsigned short>(words[j] >> 16 & 0xff00))) * s;
        out[i * 4 + j] = r * 2.0f + make_float4(1.0f, 1.0f, 1.0f, 1.0f);
    }
}

extern "C" __global__ __launch_bounds__(128) void dequant_e4m3(const uchar4 *in, half2 *out, int vectors) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    const uchar4 b = in[i];
    out[2 * i] = __floats2half2_rn(e4m3(b.x), e4m3(b.y));
    out[2 * i + 1] = make_half2(__float2half(e4m3(b.z)), __float2half(e4m3(b.w)));
}
