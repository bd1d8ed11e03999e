// Half precision: __half and __half2, and the functions that kernels use on them. Arithmetic is _Float16's: one rounding each.
#pragma once

#include "hip_runtime.h"

struct __half_raw { unsigned short x; };

struct __attribute__((may_alias)) __half {
    union __attribute__((may_alias)) {
        _Float16 data;
        unsigned short __x;
    };
    __half() = default;
    __host__ __device__ constexpr __half(_Float16 value) : data(value) {}
    __host__ __device__ constexpr __half(float value) : data(_Float16(value)) {}
    __host__ __device__ constexpr __half(double value) : data(_Float16(value)) {}
    __host__ __device__ constexpr __half(int value) : data(_Float16(value)) {}
    __host__ __device__ constexpr __half(unsigned value) : data(_Float16(value)) {}
    __host__ __device__ constexpr __half(long value) : data(_Float16(value)) {}
    __host__ __device__ __half(__half_raw raw) : __x(raw.x) {}
    __host__ __device__ operator float() const { return float(data); }
    __host__ __device__ explicit operator _Float16() const { return data; }
    __host__ __device__ explicit operator int() const { return int(data); }
    __host__ __device__ explicit operator bool() const { return data != _Float16(0); }
    __host__ __device__ operator __half_raw() const { return {__x}; }
    __host__ __device__ __half &operator+=(__half b) { data += b.data; return *this; }
    __host__ __device__ __half &operator-=(__half b) { data -= b.data; return *this; }
    __host__ __device__ __half &operator*=(__half b) { data *= b.data; return *this; }
    __host__ __device__ __half &operator/=(__half b) { data /= b.data; return *this; }
    __host__ __device__ __half operator-() const { return __half(_Float16(-data)); }
};
typedef __half half;

struct __attribute__((may_alias)) alignas(4) __half2 {
    union __attribute__((may_alias)) {
        struct __attribute__((may_alias)) { __half x, y; };
        _Float16 __attribute__((ext_vector_type(2))) data;
    };
    __half2() = default;
    __host__ __device__ constexpr __half2(__half x, __half y) : data{x.data, y.data} {}
    __host__ __device__ constexpr __half2(_Float16 __attribute__((ext_vector_type(2))) value) : data(value) {}
};
typedef __half2 half2;
static_assert(sizeof(__half) == 2 && sizeof(__half2) == 4, "memory is read through these types");

#define EXPCTL_HALF(op, name) \
    EXPCTL_BOTH __half operator op(__half a, __half b) { return __half(_Float16(a.data op b.data)); } \
    EXPCTL_BOTH __half2 operator op(__half2 a, __half2 b) { return __half2(a.data op b.data); } \
    EXPCTL_BOTH __half name(__half a, __half b) { return a op b; } \
    EXPCTL_BOTH __half2 name##2(__half2 a, __half2 b) { return a op b; }
EXPCTL_HALF(+, __hadd)
EXPCTL_HALF(-, __hsub)
EXPCTL_HALF(*, __hmul)
EXPCTL_HALF(/, __hdiv)
#undef EXPCTL_HALF
#define EXPCTL_COMPARE(op, name) \
    EXPCTL_BOTH bool operator op(__half a, __half b) { return a.data op b.data; } \
    EXPCTL_BOTH bool name(__half a, __half b) { return a.data op b.data; }
EXPCTL_COMPARE(<, __hlt)
EXPCTL_COMPARE(<=, __hle)
EXPCTL_COMPARE(>, __hgt)
EXPCTL_COMPARE(>=, __hge)
EXPCTL_COMPARE(==, __heq)
EXPCTL_COMPARE(!=, __hne)
#undef EXPCTL_COMPARE

EXPCTL_BOTH __half2 &operator+=(__half2 &a, __half2 b) { return a = a + b; }
EXPCTL_BOTH __half2 &operator*=(__half2 &a, __half2 b) { return a = a * b; }
EXPCTL_BOTH __half __hneg(__half a) { return -a; }
EXPCTL_BOTH __half __habs(__half a) { return __half(_Float16(__builtin_fabsf16(a.data))); }
EXPCTL_BOTH __half __hfma(__half a, __half b, __half c) { return __half(_Float16(__builtin_fmaf16(a.data, b.data, c.data))); }
EXPCTL_BOTH __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return __half2(__builtin_elementwise_fma(a.data, b.data, c.data)); }
EXPCTL_BOTH __half __hmax(__half a, __half b) { return __half(_Float16(__builtin_fmaxf16(a.data, b.data))); }
EXPCTL_BOTH __half __hmin(__half a, __half b) { return __half(_Float16(__builtin_fminf16(a.data, b.data))); }
EXPCTL_BOTH bool __hisnan(__half a) { return __builtin_isnan(float(a.data)); }
EXPCTL_BOTH __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
EXPCTL_BOTH __half2 make_half2(__half x, __half y) { return __half2(x, y); }
EXPCTL_BOTH __half2 __half2half2(__half x) { return __half2(x, x); }
EXPCTL_BOTH __half __low2half(__half2 a) { return a.x; }
EXPCTL_BOTH __half __high2half(__half2 a) { return a.y; }
EXPCTL_BOTH float __low2float(__half2 a) { return float(a.data.x); }
EXPCTL_BOTH float __high2float(__half2 a) { return float(a.data.y); }
EXPCTL_BOTH __half __float2half(float a) { return __half(a); }
EXPCTL_BOTH __half __float2half_rn(float a) { return __half(a); }
EXPCTL_BOTH float __half2float(__half a) { return float(a.data); }
EXPCTL_BOTH __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
EXPCTL_BOTH __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
EXPCTL_BOTH __half2 __float22half2_rn(float2 a) { return __half2(__half(a.x), __half(a.y)); }
EXPCTL_BOTH float2 __half22float2(__half2 a) { return float2(float(a.data.x), float(a.data.y)); }
EXPCTL_BOTH __half __int2half_rn(int a) { return __half(a); }
EXPCTL_BOTH int __half2int_rn(__half a) { return int(__builtin_rintf(float(a.data))); }
EXPCTL_BOTH __half __ushort_as_half(unsigned short a) { return __half(__builtin_bit_cast(_Float16, a)); }
EXPCTL_BOTH unsigned short __half_as_ushort(__half a) { return __builtin_bit_cast(unsigned short, a.data); }
EXPCTL_BOTH __half __short_as_half(short a) { return __half(__builtin_bit_cast(_Float16, a)); }
EXPCTL_BOTH short __half_as_short(__half a) { return __builtin_bit_cast(short, a.data); }
EXPCTL_DEVICE __half hsqrt(__half a) { return __half(_Float16(__builtin_sqrtf16(a.data))); }
EXPCTL_DEVICE __half hexp(__half a) { return __half(__builtin_expf(float(a.data))); }
EXPCTL_DEVICE __half hrcp(__half a) { return __half(_Float16(_Float16(1) / a.data)); }
