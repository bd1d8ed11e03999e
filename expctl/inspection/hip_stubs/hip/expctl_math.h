// Mathematics of the device in single precision. What clang lowers by itself is left to it; the rest are short formulas of our own,
// good for counting registers and instructions and to about 1e-6, not what ROCm's device library compiles to. Double precision is
// in expctl_math_double.h.
#pragma once

#define EXPCTL_UNARY(name) \
    EXPCTL_DEVICE float name##f(float x) { return __builtin_##name##f(x); } \
    namespace std { EXPCTL_DEVICE float name(float x) { return __builtin_##name##f(x); } } \
    EXPCTL_DEVICE float name(float x) { return __builtin_##name##f(x); }
#define EXPCTL_UNARY_DOUBLE(name) \
    EXPCTL_UNARY(name) \
    namespace std { EXPCTL_DEVICE double name(double x) { return __builtin_##name(x); } } \
    EXPCTL_DEVICE double name(double x) { return __builtin_##name(x); }

EXPCTL_UNARY_DOUBLE(sqrt)
EXPCTL_UNARY_DOUBLE(fabs)
EXPCTL_UNARY_DOUBLE(floor)
EXPCTL_UNARY_DOUBLE(ceil)
EXPCTL_UNARY_DOUBLE(trunc)
EXPCTL_UNARY_DOUBLE(rint)
EXPCTL_UNARY_DOUBLE(nearbyint)
EXPCTL_UNARY_DOUBLE(round)
EXPCTL_UNARY(exp)
EXPCTL_UNARY(exp2)
EXPCTL_UNARY(log)
EXPCTL_UNARY(log2)
EXPCTL_UNARY(log10)
EXPCTL_UNARY(sin)
EXPCTL_UNARY(cos)
#undef EXPCTL_UNARY
#undef EXPCTL_UNARY_DOUBLE

EXPCTL_DEVICE float exp10f(float x) { return __builtin_exp10f(x); }
EXPCTL_DEVICE float rsqrtf(float x) { return __builtin_amdgcn_rsqf(x); }
EXPCTL_DEVICE float rsqrt(float x) { return __builtin_amdgcn_rsqf(x); }
EXPCTL_DEVICE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
EXPCTL_DEVICE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
EXPCTL_DEVICE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
EXPCTL_DEVICE float fminf(float a, float b) { return __builtin_fminf(a, b); }
EXPCTL_DEVICE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
EXPCTL_DEVICE double fmin(double a, double b) { return __builtin_fmin(a, b); }
EXPCTL_DEVICE double fmax(double a, double b) { return __builtin_fmax(a, b); }
EXPCTL_DEVICE float fmodf(float a, float b) { return __builtin_fmodf(a, b); }
EXPCTL_DEVICE float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
EXPCTL_DEVICE float ldexpf(float a, int n) { return __builtin_ldexpf(a, n); }
EXPCTL_DEVICE float fdividef(float a, float b) { return a / b; }
EXPCTL_DEVICE float __fdividef(float a, float b) { return a * __builtin_amdgcn_rcpf(b); }
EXPCTL_DEVICE float __frcp_rn(float x) { return 1.0f / x; }
EXPCTL_DEVICE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
EXPCTL_DEVICE float __fmul_rn(float a, float b) { return a * b; }
EXPCTL_DEVICE float __fadd_rn(float a, float b) { return a + b; }
EXPCTL_DEVICE float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
EXPCTL_DEVICE float __frsqrt_rn(float x) { return __builtin_amdgcn_rsqf(x); }
EXPCTL_DEVICE float __expf(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504f); }
EXPCTL_DEVICE float __exp2f(float x) { return __builtin_amdgcn_exp2f(x); }
EXPCTL_DEVICE float __logf(float x) { return __builtin_amdgcn_logf(x) * 0.693147181f; }
EXPCTL_DEVICE float __log2f(float x) { return __builtin_amdgcn_logf(x); }
EXPCTL_DEVICE float __sinf(float x) { return __builtin_amdgcn_sinf(x * 0.159154943f); }
EXPCTL_DEVICE float __cosf(float x) { return __builtin_amdgcn_cosf(x * 0.159154943f); }
EXPCTL_DEVICE void sincosf(float x, float *sine, float *cosine) { *sine = sinf(x), *cosine = cosf(x); }
EXPCTL_DEVICE float tanf(float x) { return sinf(x) / cosf(x); }
EXPCTL_DEVICE float expm1f(float x) { return __builtin_fabsf(x) < 0.01f ? x + 0.5f * x * x + x * x * x / 6.0f : expf(x) - 1.0f; }
EXPCTL_DEVICE float log1pf(float x) { return __builtin_fabsf(x) < 0.01f ? x - 0.5f * x * x + x * x * x / 3.0f : logf(1.0f + x); }
EXPCTL_DEVICE float tanhf(float x) {
    float e = expm1f(-2.0f * __builtin_fabsf(x));
    return __builtin_copysignf(-e / (2.0f + e), x);
}
EXPCTL_DEVICE float powf(float x, float y) {
    float size = exp2f(y * log2f(__builtin_fabsf(x)));
    bool whole = truncf(y) == y, odd = whole && truncf(0.5f * y) != 0.5f * y;
    if (y == 0.0f || x == 1.0f) return 1.0f;
    return x >= 0.0f ? size : whole ? (odd ? -size : size) : __builtin_nanf("");
}
EXPCTL_DEVICE float __powf(float x, float y) { return __builtin_amdgcn_exp2f(y * __builtin_amdgcn_logf(x)); }
EXPCTL_DEVICE float cbrtf(float x) { return __builtin_copysignf(exp2f(log2f(__builtin_fabsf(x)) * 0.333333333f), x); }
EXPCTL_DEVICE float erff(float x) {  // Abramowitz and Stegun 7.1.26, absolute error below 2e-7
    float a = __builtin_fabsf(x), t = 1.0f / (1.0f + 0.3275911f * a);
    float p = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    return __builtin_copysignf(1.0f - p * expf(-a * a), x);
}
namespace std {
EXPCTL_DEVICE float tanh(float x) { return ::tanhf(x); }
EXPCTL_DEVICE float pow(float x, float y) { return ::powf(x, y); }
EXPCTL_DEVICE float pow(float x, int n) { return ::powf(x, float(n)); }
EXPCTL_DEVICE float abs(float x) { return __builtin_fabsf(x); }
EXPCTL_DEVICE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
EXPCTL_DEVICE float fmax(float a, float b) { return __builtin_fmaxf(a, b); }
EXPCTL_DEVICE float fmin(float a, float b) { return __builtin_fminf(a, b); }
}
EXPCTL_DEVICE float tanh(float x) { return tanhf(x); }
EXPCTL_DEVICE float pow(float x, float y) { return powf(x, y); }
EXPCTL_DEVICE float pow(float x, int n) { return powf(x, float(n)); }
EXPCTL_DEVICE float fmax(float a, float b) { return __builtin_fmaxf(a, b); }
EXPCTL_DEVICE float fmin(float a, float b) { return __builtin_fminf(a, b); }
EXPCTL_DEVICE float abs(float x) { return __builtin_fabsf(x); }
EXPCTL_DEVICE bool isnan(float x) { return __builtin_isnan(x); }
EXPCTL_DEVICE bool isinf(float x) { return __builtin_isinf(x); }
EXPCTL_DEVICE bool isfinite(float x) { return __builtin_isfinite(x); }
EXPCTL_DEVICE float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }

#define EXPCTL_LEAST_MOST(T) \
    EXPCTL_BOTH T min(T a, T b) { return b < a ? b : a; } \
    EXPCTL_BOTH T max(T a, T b) { return a < b ? b : a; }
EXPCTL_LEAST_MOST(int)
EXPCTL_LEAST_MOST(unsigned)
EXPCTL_LEAST_MOST(long)
EXPCTL_LEAST_MOST(unsigned long)
EXPCTL_LEAST_MOST(long long)
EXPCTL_LEAST_MOST(unsigned long long)
#undef EXPCTL_LEAST_MOST
EXPCTL_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
EXPCTL_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
EXPCTL_BOTH double min(double a, double b) { return __builtin_fmin(a, b); }
EXPCTL_BOTH double max(double a, double b) { return __builtin_fmax(a, b); }
EXPCTL_BOTH unsigned min(int a, unsigned b) { return min(unsigned(a), b); }
EXPCTL_BOTH unsigned min(unsigned a, int b) { return min(a, unsigned(b)); }
EXPCTL_BOTH unsigned max(int a, unsigned b) { return max(unsigned(a), b); }
EXPCTL_BOTH unsigned max(unsigned a, int b) { return max(a, unsigned(b)); }

#define EXPCTL_BITS(name, From, To) \
    EXPCTL_DEVICE To name(From x) { return __builtin_bit_cast(To, x); }
EXPCTL_BITS(__float_as_int, float, int)
EXPCTL_BITS(__float_as_uint, float, unsigned)
EXPCTL_BITS(__int_as_float, int, float)
EXPCTL_BITS(__uint_as_float, unsigned, float)
EXPCTL_BITS(__double_as_longlong, double, long long)
EXPCTL_BITS(__longlong_as_double, long long, double)
#undef EXPCTL_BITS
EXPCTL_DEVICE int __float2int_rn(float x) { return int(__builtin_rintf(x)); }
EXPCTL_DEVICE int __float2int_rz(float x) { return int(x); }
EXPCTL_DEVICE float __int2float_rn(int x) { return float(x); }
EXPCTL_DEVICE float __uint2float_rn(unsigned x) { return float(x); }
EXPCTL_DEVICE int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
EXPCTL_DEVICE int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
EXPCTL_DEVICE unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
// Four bytes out of eight: y holds bytes 4 to 7. Selectors above 7 are not CUDA's, and are taken modulo 8.
EXPCTL_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    return __builtin_amdgcn_perm(y, x, ((selector & 7) | (selector & 0x70) << 4 | (selector & 0x700) << 8 | (selector & 0x7000) << 12));
}
