// bfloat16 as a stored type: the upper half of a float, rounded to nearest even; arithmetic in single precision.
#pragma once

#include "hip_runtime.h"

struct __attribute__((may_alias)) hip_bfloat16 {
    unsigned short data;
    hip_bfloat16() = default;
    __host__ __device__ hip_bfloat16(float value) {
        unsigned bits = __builtin_bit_cast(unsigned, value);
        bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
        data = nan ? (bits >> 16 | 0x40) : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    }
    __host__ __device__ explicit hip_bfloat16(double value) : hip_bfloat16(float(value)) {}
    __host__ __device__ explicit hip_bfloat16(int value) : hip_bfloat16(float(value)) {}
    __host__ __device__ operator float() const { return __builtin_bit_cast(float, unsigned(data) << 16); }
};
