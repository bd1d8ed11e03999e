// Half precision: __half and __half2, and the functions that kernels use on them. Arithmetic is _Float16's: one rounding each.
// Functions that have no instruction for halves are computed in single precision and rounded once.
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
    __host__ __device__ constexpr __half(unsigned long value) : data(_Float16(value)) {}
    __host__ __device__ constexpr __half(long long value) : data(_Float16(value)) {}
    __host__ __device__ constexpr __half(unsigned long long value) : data(_Float16(value)) {}
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
    typedef _Float16 pair __attribute__((ext_vector_type(2)));
    union __attribute__((may_alias)) {
        struct __attribute__((may_alias)) { __half x, y; };
        pair data;
    };
    __half2() = default;
    __host__ __device__ constexpr __half2(__half x, __half y) : data{x.data, y.data} {}
    __host__ __device__ constexpr __half2(pair value) : data(value) {}
    __host__ __device__ __half2 operator-() const { return __half2(pair(-data)); }
};
typedef __half2 half2;
static_assert(sizeof(__half) == 2 && sizeof(__half2) == 4, "memory is read through these types");

#define EXPCTL_HALF(op, name, name2) \
    EXPCTL_BOTH __half operator op(__half a, __half b) { return __half(_Float16(a.data op b.data)); } \
    EXPCTL_BOTH __half2 operator op(__half2 a, __half2 b) { return __half2(a.data op b.data); } \
    EXPCTL_BOTH __half2 &operator op##=(__half2 &a, __half2 b) { return a = a op b; } \
    EXPCTL_BOTH __half name(__half a, __half b) { return a op b; } \
    EXPCTL_BOTH __half name##_rn(__half a, __half b) { return a op b; } \
    EXPCTL_BOTH __half2 name2(__half2 a, __half2 b) { return a op b; } \
    EXPCTL_BOTH __half2 name2##_rn(__half2 a, __half2 b) { return a op b; }
EXPCTL_HALF(+, __hadd, __hadd2)
EXPCTL_HALF(-, __hsub, __hsub2)
EXPCTL_HALF(*, __hmul, __hmul2)
EXPCTL_HALF(/, __hdiv, __h2div)
#undef EXPCTL_HALF

// Ordered comparisons; those that end in u are true for a NaN as well.
#define EXPCTL_COMPARE(op, name, both) \
    EXPCTL_BOTH bool operator op(__half a, __half b) { return a.data op b.data; } \
    EXPCTL_BOTH bool operator op(__half2 a, __half2 b) { return a.x op b.x && a.y op b.y; } \
    EXPCTL_BOTH bool name(__half a, __half b) { return a.data op b.data; } \
    EXPCTL_BOTH bool name##u(__half a, __half b) { return a.data op b.data || __builtin_isunordered(float(a), float(b)); } \
    EXPCTL_BOTH __half2 name##2(__half2 a, __half2 b) { return __half2(__half(a.x op b.x), __half(a.y op b.y)); } \
    EXPCTL_BOTH bool both(__half2 a, __half2 b) { return a.x op b.x && a.y op b.y; }
EXPCTL_COMPARE(<, __hlt, __hblt2)
EXPCTL_COMPARE(<=, __hle, __hble2)
EXPCTL_COMPARE(>, __hgt, __hbgt2)
EXPCTL_COMPARE(>=, __hge, __hbge2)
EXPCTL_COMPARE(==, __heq, __hbeq2)
EXPCTL_COMPARE(!=, __hne, __hbne2)
#undef EXPCTL_COMPARE

EXPCTL_BOTH __half __hneg(__half a) { return -a; }
EXPCTL_BOTH __half2 __hneg2(__half2 a) { return -a; }
EXPCTL_BOTH __half __habs(__half a) { return __half(_Float16(__builtin_fabsf16(a.data))); }
EXPCTL_BOTH __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }
EXPCTL_BOTH __half __hfma(__half a, __half b, __half c) { return __half(_Float16(__builtin_fmaf16(a.data, b.data, c.data))); }
EXPCTL_BOTH __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return __half2(__builtin_elementwise_fma(a.data, b.data, c.data)); }
EXPCTL_BOTH __half __hmax(__half a, __half b) { return __half(_Float16(__builtin_fmaxf16(a.data, b.data))); }
EXPCTL_BOTH __half __hmin(__half a, __half b) { return __half(_Float16(__builtin_fminf16(a.data, b.data))); }
EXPCTL_BOTH __half2 __hmax2(__half2 a, __half2 b) { return __half2(__builtin_elementwise_max(a.data, b.data)); }
EXPCTL_BOTH __half2 __hmin2(__half2 a, __half2 b) { return __half2(__builtin_elementwise_min(a.data, b.data)); }
EXPCTL_BOTH __half expctl_unit(__half a) { return __hmin(__hmax(a, __half(0)), __half(1)); }
EXPCTL_BOTH __half __hadd_sat(__half a, __half b) { return expctl_unit(a + b); }
EXPCTL_BOTH __half __hsub_sat(__half a, __half b) { return expctl_unit(a - b); }
EXPCTL_BOTH __half __hmul_sat(__half a, __half b) { return expctl_unit(a * b); }
EXPCTL_BOTH __half __hfma_sat(__half a, __half b, __half c) { return expctl_unit(__hfma(a, b, c)); }
EXPCTL_BOTH bool __hisnan(__half a) { return __builtin_isnan(float(a.data)); }
EXPCTL_BOTH int __hisinf(__half a) { return __builtin_isinf(float(a.data)) ? (a.data > 0 ? 1 : -1) : 0; }

EXPCTL_BOTH __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
EXPCTL_BOTH __half2 make_half2(__half x, __half y) { return __half2(x, y); }
EXPCTL_BOTH __half2 __half2half2(__half x) { return __half2(x, x); }
EXPCTL_BOTH __half __low2half(__half2 a) { return a.x; }
EXPCTL_BOTH __half __high2half(__half2 a) { return a.y; }
EXPCTL_BOTH __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
EXPCTL_BOTH __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
EXPCTL_BOTH __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
EXPCTL_BOTH __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
EXPCTL_BOTH __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
EXPCTL_BOTH float __low2float(__half2 a) { return float(a.data.x); }
EXPCTL_BOTH float __high2float(__half2 a) { return float(a.data.y); }
EXPCTL_BOTH __half __float2half(float a) { return __half(a); }
EXPCTL_BOTH __half __float2half_rn(float a) { return __half(a); }
EXPCTL_DEVICE __half __float2half_rz(float a) { return __half(_Float16(__builtin_amdgcn_cvt_pkrtz(a, 0.0f).x)); }
EXPCTL_BOTH __half __double2half(double a) { return __half(a); }
EXPCTL_BOTH float __half2float(__half a) { return float(a.data); }
EXPCTL_BOTH __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
EXPCTL_BOTH __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
EXPCTL_BOTH __half2 __float22half2_rn(float2 a) { return __half2(__half(a.x), __half(a.y)); }
EXPCTL_BOTH float2 __half22float2(__half2 a) { return float2(float(a.data.x), float(a.data.y)); }
EXPCTL_BOTH __half __ushort_as_half(unsigned short a) { return __half(__builtin_bit_cast(_Float16, a)); }
EXPCTL_BOTH unsigned short __half_as_ushort(__half a) { return __builtin_bit_cast(unsigned short, a.data); }
EXPCTL_BOTH __half __short_as_half(short a) { return __half(__builtin_bit_cast(_Float16, a)); }
EXPCTL_BOTH short __half_as_short(__half a) { return __builtin_bit_cast(short, a.data); }
#define EXPCTL_INTEGER(name, T) \
    EXPCTL_BOTH __half __##name##2half_rn(T a) { return __half(_Float16(a)); } \
    EXPCTL_BOTH T __half2##name##_rn(__half a) { return (T)__builtin_rintf(float(a.data)); } \
    EXPCTL_BOTH T __half2##name##_rz(__half a) { return (T)float(a.data); } \
    EXPCTL_BOTH T __half2##name##_rd(__half a) { return (T)__builtin_floorf(float(a.data)); } \
    EXPCTL_BOTH T __half2##name##_ru(__half a) { return (T)__builtin_ceilf(float(a.data)); }
EXPCTL_INTEGER(int, int)
EXPCTL_INTEGER(uint, unsigned)
EXPCTL_INTEGER(short, short)
EXPCTL_INTEGER(ushort, unsigned short)
EXPCTL_INTEGER(ll, long long)
EXPCTL_INTEGER(ull, unsigned long long)
#undef EXPCTL_INTEGER

#define EXPCTL_FUNCTION(name, of_float) \
    EXPCTL_DEVICE __half h##name(__half a) { return __half(of_float(float(a.data))); } \
    EXPCTL_DEVICE __half2 h2##name(__half2 a) { return __half2(h##name(a.x), h##name(a.y)); }
EXPCTL_FUNCTION(sqrt, sqrtf)
EXPCTL_FUNCTION(rsqrt, rsqrtf)
EXPCTL_FUNCTION(rcp, 1.0f /)
EXPCTL_FUNCTION(exp, expf)
EXPCTL_FUNCTION(exp2, exp2f)
EXPCTL_FUNCTION(exp10, exp10f)
EXPCTL_FUNCTION(log, logf)
EXPCTL_FUNCTION(log2, log2f)
EXPCTL_FUNCTION(log10, log10f)
EXPCTL_FUNCTION(sin, sinf)
EXPCTL_FUNCTION(cos, cosf)
EXPCTL_FUNCTION(tanh, tanhf)
EXPCTL_FUNCTION(floor, floorf)
EXPCTL_FUNCTION(ceil, ceilf)
EXPCTL_FUNCTION(trunc, truncf)
EXPCTL_FUNCTION(rint, rintf)
#undef EXPCTL_FUNCTION

EXPCTL_DEVICE __half2 atomicAdd(__half2 *at, __half2 value) {
    auto sum = [value](unsigned was) { return __builtin_bit_cast(unsigned, __builtin_bit_cast(__half2, was) + value); };
    return __builtin_bit_cast(__half2, expctl_atomic((unsigned *)at, sum));
}
EXPCTL_DEVICE __half atomicAdd(__half *at, __half value) {
    auto sum = [value](unsigned short was) { return __half_as_ushort(__ushort_as_half(was) + value); };
    return __ushort_as_half(expctl_atomic((unsigned short *)at, sum));
}
EXPCTL_DEVICE __half2 unsafeAtomicAdd(__half2 *at, __half2 value) { return atomicAdd(at, value); }
