// Mathematics of the device under the names of C, of C++ and of HIP's intrinsics. The functions themselves are in expctl_real.h:
// what clang lowers by itself is left to it, the rest are formulas of ours, not what ROCm's device library compiles to.
#pragma once

template <bool, class T> struct expctl_if {};
template <class T> struct expctl_if<true, T> { typedef T type; };
#define EXPCTL_INTEGER(T) class T, class = typename expctl_if<__is_integral(T), T>::type
// Two numbers of different types, or two integers: double.
#define EXPCTL_MIXED(A, B) \
    class A, class B, class = typename expctl_if<__is_arithmetic(A) && __is_arithmetic(B) && \
                                                 (!__is_same(A, B) || __is_integral(A)), A>::type
#define EXPCTL_EVERYWHERE(...) \
    __VA_ARGS__ \
    namespace std { __VA_ARGS__ }

#define EXPCTL_FUNCTION_1(name) \
    EXPCTL_DEVICE float name##f(float x) { return expctl::name(x); } \
    EXPCTL_EVERYWHERE( \
        EXPCTL_DEVICE float name(float x) { return ::expctl::name(x); } \
        EXPCTL_DEVICE double name(double x) { return ::expctl::name(x); } \
        template <EXPCTL_INTEGER(T)> EXPCTL_DEVICE double name(T x) { return ::expctl::name(double(x)); })
EXPCTL_FUNCTION_1(sqrt)
EXPCTL_FUNCTION_1(fabs)
EXPCTL_FUNCTION_1(floor)
EXPCTL_FUNCTION_1(ceil)
EXPCTL_FUNCTION_1(trunc)
EXPCTL_FUNCTION_1(rint)
EXPCTL_FUNCTION_1(nearbyint)
EXPCTL_FUNCTION_1(round)
EXPCTL_FUNCTION_1(exp)
EXPCTL_FUNCTION_1(exp2)
EXPCTL_FUNCTION_1(exp10)
EXPCTL_FUNCTION_1(expm1)
EXPCTL_FUNCTION_1(log)
EXPCTL_FUNCTION_1(log2)
EXPCTL_FUNCTION_1(log10)
EXPCTL_FUNCTION_1(log1p)
EXPCTL_FUNCTION_1(logb)
EXPCTL_FUNCTION_1(sin)
EXPCTL_FUNCTION_1(cos)
EXPCTL_FUNCTION_1(tan)
EXPCTL_FUNCTION_1(sinpi)
EXPCTL_FUNCTION_1(cospi)
EXPCTL_FUNCTION_1(asin)
EXPCTL_FUNCTION_1(acos)
EXPCTL_FUNCTION_1(atan)
EXPCTL_FUNCTION_1(sinh)
EXPCTL_FUNCTION_1(cosh)
EXPCTL_FUNCTION_1(tanh)
EXPCTL_FUNCTION_1(asinh)
EXPCTL_FUNCTION_1(acosh)
EXPCTL_FUNCTION_1(atanh)
EXPCTL_FUNCTION_1(cbrt)
EXPCTL_FUNCTION_1(rcbrt)
EXPCTL_FUNCTION_1(rsqrt)
EXPCTL_FUNCTION_1(erf)
EXPCTL_FUNCTION_1(erfc)
EXPCTL_FUNCTION_1(erfcx)
EXPCTL_FUNCTION_1(normcdf)
EXPCTL_FUNCTION_1(lgamma)
EXPCTL_FUNCTION_1(tgamma)
#undef EXPCTL_FUNCTION_1

#define EXPCTL_FUNCTION_2(name) \
    EXPCTL_DEVICE float name##f(float x, float y) { return expctl::name(x, y); } \
    EXPCTL_EVERYWHERE( \
        EXPCTL_DEVICE float name(float x, float y) { return ::expctl::name(x, y); } \
        EXPCTL_DEVICE double name(double x, double y) { return ::expctl::name(x, y); } \
        template <EXPCTL_MIXED(A, B)> EXPCTL_DEVICE double name(A x, B y) { return ::expctl::name(double(x), double(y)); })
EXPCTL_FUNCTION_2(pow)
EXPCTL_FUNCTION_2(atan2)
EXPCTL_FUNCTION_2(hypot)
EXPCTL_FUNCTION_2(rhypot)
EXPCTL_FUNCTION_2(fmod)
EXPCTL_FUNCTION_2(remainder)
EXPCTL_FUNCTION_2(fdim)
EXPCTL_FUNCTION_2(fmin)
EXPCTL_FUNCTION_2(fmax)
EXPCTL_FUNCTION_2(copysign)
#undef EXPCTL_FUNCTION_2
EXPCTL_EVERYWHERE(EXPCTL_DEVICE float pow(float x, int n) { return ::expctl::pow(x, float(n)); })

#define EXPCTL_OTHERS(T, suffix) \
    EXPCTL_DEVICE T norm3d##suffix(T x, T y, T z) { return expctl::norm3d(x, y, z); } \
    EXPCTL_DEVICE T norm4d##suffix(T x, T y, T z, T w) { return expctl::norm4d(x, y, z, w); } \
    EXPCTL_DEVICE T rnorm3d##suffix(T x, T y, T z) { return expctl::rnorm3d(x, y, z); } \
    EXPCTL_DEVICE T rnorm4d##suffix(T x, T y, T z, T w) { return expctl::rnorm4d(x, y, z, w); } \
    EXPCTL_DEVICE void sincos##suffix(T x, T *sine, T *cosine) { expctl::sincos(x, sine, cosine); } \
    EXPCTL_DEVICE void sincospi##suffix(T x, T *sine, T *cosine) { expctl::sincospi(x, sine, cosine); } \
    EXPCTL_DEVICE T nan##suffix(const char *) { return expctl::not_a_number<T>; }
EXPCTL_OTHERS(float, f)
EXPCTL_OTHERS(double, )
#undef EXPCTL_OTHERS
EXPCTL_DEVICE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
EXPCTL_DEVICE float ldexpf(float x, int n) { return __builtin_ldexpf(x, n); }
EXPCTL_DEVICE float scalbnf(float x, int n) { return __builtin_ldexpf(x, n); }
EXPCTL_DEVICE float frexpf(float x, int *n) { return __builtin_frexpf(x, n); }
EXPCTL_DEVICE float modff(float x, float *whole) { return expctl::modf(x, whole); }
EXPCTL_DEVICE int ilogbf(float x) { return int(expctl::logb(x)); }
EXPCTL_DEVICE long lroundf(float x) { return long(__builtin_roundf(x)); }
EXPCTL_DEVICE long lrintf(float x) { return long(__builtin_rintf(x)); }
EXPCTL_DEVICE long long llroundf(float x) { return (long long)__builtin_roundf(x); }
EXPCTL_DEVICE long long llrintf(float x) { return (long long)__builtin_rintf(x); }
#define EXPCTL_OVERLOADED(T, suffix) \
    EXPCTL_DEVICE T fma(T a, T b, T c) { return __builtin_fma##suffix(a, b, c); } \
    EXPCTL_DEVICE T ldexp(T x, int n) { return __builtin_ldexp##suffix(x, n); } \
    EXPCTL_DEVICE T scalbn(T x, int n) { return __builtin_ldexp##suffix(x, n); } \
    EXPCTL_DEVICE T frexp(T x, int *n) { return __builtin_frexp##suffix(x, n); } \
    EXPCTL_DEVICE T modf(T x, T *whole) { return ::expctl::modf(x, whole); } \
    EXPCTL_DEVICE T abs(T x) { return __builtin_fabs##suffix(x); } \
    EXPCTL_DEVICE int ilogb(T x) { return int(::expctl::logb(x)); } \
    EXPCTL_DEVICE long lround(T x) { return long(__builtin_round##suffix(x)); } \
    EXPCTL_DEVICE long lrint(T x) { return long(__builtin_rint##suffix(x)); } \
    EXPCTL_DEVICE long long llround(T x) { return (long long)__builtin_round##suffix(x); } \
    EXPCTL_DEVICE long long llrint(T x) { return (long long)__builtin_rint##suffix(x); } \
    EXPCTL_DEVICE bool isnan(T x) { return __builtin_isnan(x); } \
    EXPCTL_DEVICE bool isinf(T x) { return __builtin_isinf(x); } \
    EXPCTL_DEVICE bool isfinite(T x) { return __builtin_isfinite(x); } \
    EXPCTL_DEVICE bool signbit(T x) { return __builtin_signbit(x); }
EXPCTL_EVERYWHERE(EXPCTL_OVERLOADED(float, f) EXPCTL_OVERLOADED(double, ))
#undef EXPCTL_OVERLOADED
EXPCTL_EVERYWHERE(
    EXPCTL_DEVICE int abs(int x) { return x < 0 ? -x : x; }
    EXPCTL_DEVICE long abs(long x) { return x < 0 ? -x : x; }
    EXPCTL_DEVICE long long abs(long long x) { return x < 0 ? -x : x; })
EXPCTL_DEVICE long labs(long x) { return x < 0 ? -x : x; }
EXPCTL_DEVICE long long llabs(long long x) { return x < 0 ? -x : x; }
#undef EXPCTL_EVERYWHERE
#undef EXPCTL_INTEGER
#undef EXPCTL_MIXED

// Single operations that round to nearest, and those that take the machine's approximations.
#define EXPCTL_ROUNDED(T, plus, minus, times, over, fused, root, inverse) \
    EXPCTL_DEVICE T plus(T a, T b) { return a + b; } \
    EXPCTL_DEVICE T minus(T a, T b) { return a - b; } \
    EXPCTL_DEVICE T times(T a, T b) { return a * b; } \
    EXPCTL_DEVICE T over(T a, T b) { return a / b; } \
    EXPCTL_DEVICE T fused(T a, T b, T c) { return expctl::fma(a, b, c); } \
    EXPCTL_DEVICE T root(T x) { return expctl::sqrt(x); } \
    EXPCTL_DEVICE T inverse(T x) { return 1 / x; }
EXPCTL_ROUNDED(float, __fadd_rn, __fsub_rn, __fmul_rn, __fdiv_rn, __fmaf_rn, __fsqrt_rn, __frcp_rn)
EXPCTL_ROUNDED(double, __dadd_rn, __dsub_rn, __dmul_rn, __ddiv_rn, __fma_rn, __dsqrt_rn, __drcp_rn)
#undef EXPCTL_ROUNDED
EXPCTL_DEVICE float __frsqrt_rn(float x) { return __builtin_amdgcn_rsqf(x); }
EXPCTL_DEVICE float fdividef(float a, float b) { return a / b; }
EXPCTL_DEVICE float __fdividef(float a, float b) { return a * __builtin_amdgcn_rcpf(b); }
EXPCTL_DEVICE float __expf(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504f); }
EXPCTL_DEVICE float __exp2f(float x) { return __builtin_amdgcn_exp2f(x); }
EXPCTL_DEVICE float __exp10f(float x) { return __builtin_amdgcn_exp2f(x * 3.32192809f); }
EXPCTL_DEVICE float __logf(float x) { return __builtin_amdgcn_logf(x) * 0.693147181f; }
EXPCTL_DEVICE float __log2f(float x) { return __builtin_amdgcn_logf(x); }
EXPCTL_DEVICE float __log10f(float x) { return __builtin_amdgcn_logf(x) * 0.301029996f; }
EXPCTL_DEVICE float __sinf(float x) { return __builtin_amdgcn_sinf(x * 0.159154943f); }
EXPCTL_DEVICE float __cosf(float x) { return __builtin_amdgcn_cosf(x * 0.159154943f); }
EXPCTL_DEVICE float __tanf(float x) { return __sinf(x) / __cosf(x); }
EXPCTL_DEVICE void __sincosf(float x, float *sine, float *cosine) { *sine = __sinf(x), *cosine = __cosf(x); }
EXPCTL_DEVICE float __powf(float x, float y) { return __builtin_amdgcn_exp2f(y * __builtin_amdgcn_logf(x)); }
EXPCTL_DEVICE float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }
