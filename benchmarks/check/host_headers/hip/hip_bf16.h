// bfloat16: stored as the upper half of a float, rounded to nearest even; computed with in single precision.
#pragma once

#include "hip_runtime.h"

struct hip_bfloat16 {
    unsigned short data;
    hip_bfloat16() = default;
    template <class T, class = decltype(float(T()))> hip_bfloat16(T from) {
        const float value = float(from);
        const unsigned bits = __float_as_uint(value), half = 0x7fff + (bits >> 16 & 1);
        data = (std::isnan(value) ? bits | 0x400000 : bits + half) >> 16;
    }
    operator float() const { return __uint_as_float(unsigned(data) << 16); }
};
typedef hip_bfloat16 __hip_bfloat16;
struct alignas(4) __hip_bfloat162 {
    __hip_bfloat16 x, y;
};

HOST_INLINE __hip_bfloat16 __float2bfloat16(float a) { return a; }
HOST_INLINE float __bfloat162float(__hip_bfloat16 a) { return a; }
HOST_INLINE __hip_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
HOST_INLINE float2 __bfloat1622float2(__hip_bfloat162 a) { return {a.x, a.y}; }
HOST_INLINE __hip_bfloat16 __hadd(__hip_bfloat16 a, __hip_bfloat16 b) { return float(a) + float(b); }
HOST_INLINE __hip_bfloat16 __hsub(__hip_bfloat16 a, __hip_bfloat16 b) { return float(a) - float(b); }
HOST_INLINE __hip_bfloat16 __hmul(__hip_bfloat16 a, __hip_bfloat16 b) { return float(a) * float(b); }
HOST_INLINE unsigned short __bfloat16_as_ushort(__hip_bfloat16 a) { return a.data; }
HOST_INLINE __hip_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __builtin_bit_cast(__hip_bfloat16, a); }
