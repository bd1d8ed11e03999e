// Half precision: each operation is rounded to half.
#pragma once

#include "hip_runtime.h"

struct __half {
    _Float16 value;
    __half() = default;
    constexpr __half(_Float16 from) : value(from) {}
    template <class T, class = decltype(_Float16(T()))> constexpr __half(T from) : value(_Float16(from)) {}
    constexpr operator float() const { return float(value); }
    __half operator-() const { return -value; }
};
typedef __half half;

struct alignas(4) __half2 {
    __half x, y;
    __half2() = default;
    constexpr __half2(__half x, __half y) : x(x), y(y) {}
};
typedef __half2 half2;

#define HOST_HALF(op, name) \
    HOST_INLINE __half operator op(__half a, __half b) { return _Float16(a.value op b.value); } \
    HOST_INLINE __half2 operator op(__half2 a, __half2 b) { return {a.x op b.x, a.y op b.y}; } \
    HOST_INLINE __half &operator op##=(__half &a, __half b) { return a = a op b; } \
    HOST_INLINE __half2 &operator op##=(__half2 &a, __half2 b) { return a = a op b; } \
    HOST_INLINE __half name(__half a, __half b) { return a op b; } \
    HOST_INLINE __half2 name##2(__half2 a, __half2 b) { return a op b; }
HOST_HALF(+, __hadd)
HOST_HALF(-, __hsub)
HOST_HALF(*, __hmul)
HOST_HALF(/, __hdiv)
#undef HOST_HALF
#define HOST_COMPARE(op, name) \
    HOST_INLINE bool operator op(__half a, __half b) { return a.value op b.value; } \
    HOST_INLINE bool name(__half a, __half b) { return a.value op b.value; }
HOST_COMPARE(<, __hlt)
HOST_COMPARE(<=, __hle)
HOST_COMPARE(>, __hgt)
HOST_COMPARE(>=, __hge)
HOST_COMPARE(==, __heq)
HOST_COMPARE(!=, __hne)
#undef HOST_COMPARE

// A double holds the exact product of two halves, and its sum with a third in nearly all cases.
HOST_INLINE __half __hfma(__half a, __half b, __half c) { return _Float16(double(a.value) * double(b.value) + double(c.value)); }
HOST_INLINE __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
HOST_INLINE __half __hneg(__half a) { return -a; }
HOST_INLINE __half __habs(__half a) { return std::fabs(float(a)); }
HOST_INLINE __half __hmax(__half a, __half b) { return std::fmax(float(a), float(b)); }
HOST_INLINE __half __hmin(__half a, __half b) { return std::fmin(float(a), float(b)); }
HOST_INLINE bool __hisnan(__half a) { return std::isnan(float(a)); }
HOST_INLINE __half __float2half(float a) { return a; }
HOST_INLINE __half __float2half_rn(float a) { return a; }
HOST_INLINE float __half2float(__half a) { return a; }
HOST_INLINE __half __int2half_rn(int a) { return a; }
HOST_INLINE int __half2int_rn(__half a) { return __float2int_rn(a); }
HOST_INLINE __half2 __halves2half2(__half x, __half y) { return {x, y}; }
HOST_INLINE __half2 make_half2(__half x, __half y) { return {x, y}; }
HOST_INLINE __half2 __half2half2(__half x) { return {x, x}; }
HOST_INLINE __half2 __float2half2_rn(float a) { return {a, a}; }
HOST_INLINE __half2 __floats2half2_rn(float a, float b) { return {a, b}; }
HOST_INLINE __half2 __float22half2_rn(float2 a) { return {a.x, a.y}; }
HOST_INLINE float2 __half22float2(__half2 a) { return {a.x, a.y}; }
HOST_INLINE __half __low2half(__half2 a) { return a.x; }
HOST_INLINE __half __high2half(__half2 a) { return a.y; }
HOST_INLINE float __low2float(__half2 a) { return a.x; }
HOST_INLINE float __high2float(__half2 a) { return a.y; }
HOST_INLINE unsigned short __half_as_ushort(__half a) { return __builtin_bit_cast(unsigned short, a); }
HOST_INLINE __half __ushort_as_half(unsigned short a) { return __builtin_bit_cast(_Float16, a); }
HOST_INLINE __half hsqrt(__half a) { return std::sqrt(float(a)); }
