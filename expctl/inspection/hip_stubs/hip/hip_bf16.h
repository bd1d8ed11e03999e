// bfloat16 under the names of <hip/hip_bf16.h>, one and in pairs.
#pragma once

#include "hip_bfloat16.h"

typedef hip_bfloat16 __hip_bfloat16;
struct __attribute__((may_alias)) alignas(4) __hip_bfloat162 {
    __hip_bfloat16 x, y;
    __hip_bfloat162() = default;
    __host__ __device__ __hip_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) : x(x), y(y) {}
    __host__ __device__ __hip_bfloat162 operator-() const { return {-x, -y}; }
};
static_assert(sizeof(__hip_bfloat16) == 2 && sizeof(__hip_bfloat162) == 4, "memory is read through these types");

#define EXPCTL_BFLOAT16(op, name, name2) \
    EXPCTL_BOTH __hip_bfloat162 operator op(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.x op b.x, a.y op b.y}; } \
    EXPCTL_BOTH __hip_bfloat162 &operator op##=(__hip_bfloat162 &a, __hip_bfloat162 b) { return a = a op b; } \
    EXPCTL_BOTH __hip_bfloat16 name(__hip_bfloat16 a, __hip_bfloat16 b) { return a op b; } \
    EXPCTL_BOTH __hip_bfloat162 name2(__hip_bfloat162 a, __hip_bfloat162 b) { return a op b; }
EXPCTL_BFLOAT16(+, __hadd, __hadd2)
EXPCTL_BFLOAT16(-, __hsub, __hsub2)
EXPCTL_BFLOAT16(*, __hmul, __hmul2)
EXPCTL_BFLOAT16(/, __hdiv, __h2div)
#undef EXPCTL_BFLOAT16
#define EXPCTL_COMPARE(op, name, both) \
    EXPCTL_BOTH bool name(__hip_bfloat16 a, __hip_bfloat16 b) { return float(a) op float(b); } \
    EXPCTL_BOTH bool both(__hip_bfloat162 a, __hip_bfloat162 b) { return name(a.x, b.x) && name(a.y, b.y); }
EXPCTL_COMPARE(<, __hlt, __hblt2)
EXPCTL_COMPARE(<=, __hle, __hble2)
EXPCTL_COMPARE(>, __hgt, __hbgt2)
EXPCTL_COMPARE(>=, __hge, __hbge2)
EXPCTL_COMPARE(==, __heq, __hbeq2)
EXPCTL_COMPARE(!=, __hne, __hbne2)
#undef EXPCTL_COMPARE

EXPCTL_BOTH __hip_bfloat16 __hneg(__hip_bfloat16 a) { return -a; }
EXPCTL_BOTH __hip_bfloat16 __habs(__hip_bfloat16 a) { return __hip_bfloat16(__builtin_fabsf(float(a))); }
EXPCTL_BOTH bool __hisnan(__hip_bfloat16 a) { return __builtin_isnan(float(a)); }
EXPCTL_BOTH bool __hisinf(__hip_bfloat16 a) { return __builtin_isinf(float(a)); }
EXPCTL_BOTH __hip_bfloat16 __hmax(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat16(__builtin_fmaxf(float(a), float(b))); }
EXPCTL_BOTH __hip_bfloat16 __hmin(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat16(__builtin_fminf(float(a), float(b))); }
EXPCTL_BOTH __hip_bfloat162 __hmax2(__hip_bfloat162 a, __hip_bfloat162 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
EXPCTL_BOTH __hip_bfloat162 __hmin2(__hip_bfloat162 a, __hip_bfloat162 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
EXPCTL_BOTH __hip_bfloat16 __hfma(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c) {
    return __hip_bfloat16(__builtin_fmaf(float(a), float(b), float(c)));
}
EXPCTL_BOTH __hip_bfloat162 __hfma2(__hip_bfloat162 a, __hip_bfloat162 b, __hip_bfloat162 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

EXPCTL_BOTH __hip_bfloat16 __float2bfloat16(float a) { return __hip_bfloat16(a); }
EXPCTL_BOTH __hip_bfloat16 __float2bfloat16_rn(float a) { return __hip_bfloat16(a); }
EXPCTL_BOTH __hip_bfloat16 __double2bfloat16(double a) { return __hip_bfloat16(a); }
EXPCTL_BOTH __hip_bfloat16 __int2bfloat16_rn(int a) { return __hip_bfloat16(float(a)); }
EXPCTL_BOTH int __bfloat162int_rn(__hip_bfloat16 a) { return int(__builtin_rintf(float(a))); }
EXPCTL_BOTH int __bfloat162int_rz(__hip_bfloat16 a) { return int(float(a)); }
EXPCTL_BOTH float __bfloat162float(__hip_bfloat16 a) { return float(a); }
EXPCTL_BOTH __hip_bfloat162 __floats2bfloat162_rn(float a, float b) { return {__hip_bfloat16(a), __hip_bfloat16(b)}; }
EXPCTL_BOTH __hip_bfloat162 __float22bfloat162_rn(float2 a) { return {__hip_bfloat16(a.x), __hip_bfloat16(a.y)}; }
EXPCTL_BOTH __hip_bfloat162 __float2bfloat162_rn(float a) { return {__hip_bfloat16(a), __hip_bfloat16(a)}; }
EXPCTL_BOTH float2 __bfloat1622float2(__hip_bfloat162 a) { return float2(float(a.x), float(a.y)); }
EXPCTL_BOTH __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 a) { return {a, a}; }
EXPCTL_BOTH __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
EXPCTL_BOTH __hip_bfloat162 make_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
EXPCTL_BOTH __hip_bfloat16 __low2bfloat16(__hip_bfloat162 a) { return a.x; }
EXPCTL_BOTH __hip_bfloat16 __high2bfloat16(__hip_bfloat162 a) { return a.y; }
EXPCTL_BOTH __hip_bfloat162 __low2bfloat162(__hip_bfloat162 a) { return {a.x, a.x}; }
EXPCTL_BOTH __hip_bfloat162 __high2bfloat162(__hip_bfloat162 a) { return {a.y, a.y}; }
EXPCTL_BOTH float __low2float(__hip_bfloat162 a) { return float(a.x); }
EXPCTL_BOTH float __high2float(__hip_bfloat162 a) { return float(a.y); }
EXPCTL_BOTH __hip_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __builtin_bit_cast(__hip_bfloat16, a); }
EXPCTL_BOTH unsigned short __bfloat16_as_ushort(__hip_bfloat16 a) { return a.data; }
EXPCTL_BOTH __hip_bfloat16 __short_as_bfloat16(short a) { return __builtin_bit_cast(__hip_bfloat16, a); }
EXPCTL_BOTH short __bfloat16_as_short(__hip_bfloat16 a) { return short(a.data); }

#define EXPCTL_FUNCTION(name) \
    EXPCTL_DEVICE __hip_bfloat16 h##name(__hip_bfloat16 a) { return __hip_bfloat16(name##f(float(a))); } \
    EXPCTL_DEVICE __hip_bfloat162 h2##name(__hip_bfloat162 a) { return {h##name(a.x), h##name(a.y)}; }
EXPCTL_FUNCTION(sqrt)
EXPCTL_FUNCTION(rsqrt)
EXPCTL_FUNCTION(exp)
EXPCTL_FUNCTION(exp2)
EXPCTL_FUNCTION(log)
EXPCTL_FUNCTION(log2)
EXPCTL_FUNCTION(sin)
EXPCTL_FUNCTION(cos)
EXPCTL_FUNCTION(tanh)
EXPCTL_FUNCTION(floor)
EXPCTL_FUNCTION(ceil)
EXPCTL_FUNCTION(trunc)
EXPCTL_FUNCTION(rint)
#undef EXPCTL_FUNCTION

EXPCTL_DEVICE __hip_bfloat162 atomicAdd(__hip_bfloat162 *at, __hip_bfloat162 value) {
    auto sum = [value](unsigned was) { return __builtin_bit_cast(unsigned, __builtin_bit_cast(__hip_bfloat162, was) + value); };
    return __builtin_bit_cast(__hip_bfloat162, expctl_atomic((unsigned *)at, sum));
}
EXPCTL_DEVICE __hip_bfloat16 atomicAdd(__hip_bfloat16 *at, __hip_bfloat16 value) {
    auto sum = [value](unsigned short was) { return __bfloat16_as_ushort(__ushort_as_bfloat16(was) + value); };
    return __ushort_as_bfloat16(expctl_atomic((unsigned short *)at, sum));
}
