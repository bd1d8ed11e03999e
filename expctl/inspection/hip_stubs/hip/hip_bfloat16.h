// bfloat16 as a stored type: the upper half of a float, rounded to nearest even. Arithmetic is that of floats, of which a result of
// two bfloat16 is rounded again.
#pragma once

#include "hip_runtime.h"

struct __hip_bfloat16_raw { unsigned short x; };

struct __attribute__((may_alias)) hip_bfloat16 {
    union __attribute__((may_alias)) { unsigned short data, __x; };
    hip_bfloat16() = default;
    __host__ __device__ hip_bfloat16(float value) {
        unsigned bits = __builtin_bit_cast(unsigned, value);
        bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
        data = nan ? (bits >> 16 | 0x40) : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    }
    __host__ __device__ explicit hip_bfloat16(double value) : hip_bfloat16(float(value)) {}
    __host__ __device__ explicit hip_bfloat16(int value) : hip_bfloat16(float(value)) {}
    __host__ __device__ hip_bfloat16(__hip_bfloat16_raw raw) : data(raw.x) {}
    __host__ __device__ operator float() const { return __builtin_bit_cast(float, unsigned(data) << 16); }
    __host__ __device__ operator __hip_bfloat16_raw() const { return {data}; }
    __host__ __device__ static hip_bfloat16 round_to_bfloat16(float value) { return hip_bfloat16(value); }
    __host__ __device__ hip_bfloat16 operator-() const { return hip_bfloat16(-float(*this)); }
};

// Templates, so that a bfloat16 and a float give a float.
template <class A, class B> struct expctl_two_bfloat16 {};
template <> struct expctl_two_bfloat16<hip_bfloat16, hip_bfloat16> { typedef hip_bfloat16 type; };
#define EXPCTL_BFLOAT16(op) \
    template <class A, class B> EXPCTL_BOTH typename expctl_two_bfloat16<A, B>::type operator op(A a, B b) { \
        return hip_bfloat16(float(a) op float(b)); \
    } \
    EXPCTL_BOTH hip_bfloat16 &operator op##=(hip_bfloat16 &a, float b) { return a = hip_bfloat16(float(a) op b); }
EXPCTL_BFLOAT16(+)
EXPCTL_BFLOAT16(-)
EXPCTL_BFLOAT16(*)
EXPCTL_BFLOAT16(/)
#undef EXPCTL_BFLOAT16
