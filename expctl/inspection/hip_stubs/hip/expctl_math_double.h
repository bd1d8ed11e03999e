// Mathematics of the device in double precision. Roots, rounding, absolute values and products are exact instructions; the rest
// needs ROCm's device library. It is declared so that no call is narrowed to float in silence, and a call that is compiled is an
// error with the function's name. Integers count as double, as in C++.
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
// The label keeps the compiler from knowing the function by its name and rewriting a call of it.
#define EXPCTL_NO_DOUBLE(name) __attribute__((error(#name " of double needs ROCm's device library, which is not here")))
#define EXPCTL_LABEL(name) __asm__("expctl_no_double_" #name)
#define EXPCTL_REFUSED_1(name) \
    EXPCTL_EVERYWHERE( \
        __device__ double name(double) EXPCTL_LABEL(name) EXPCTL_NO_DOUBLE(name); \
        template <EXPCTL_INTEGER(T)> __device__ double name(T) EXPCTL_NO_DOUBLE(name);)
EXPCTL_REFUSED_1(exp)
EXPCTL_REFUSED_1(exp2)
EXPCTL_REFUSED_1(log)
EXPCTL_REFUSED_1(log2)
EXPCTL_REFUSED_1(log10)
EXPCTL_REFUSED_1(sin)
EXPCTL_REFUSED_1(cos)
EXPCTL_REFUSED_1(tanh)
EXPCTL_REFUSED_1(rsqrt)
#undef EXPCTL_REFUSED_1
EXPCTL_EVERYWHERE(
    __device__ double pow(double, double) EXPCTL_LABEL(pow) EXPCTL_NO_DOUBLE(pow);
    template <EXPCTL_MIXED(A, B)> __device__ double pow(A, B) EXPCTL_NO_DOUBLE(pow);)
#undef EXPCTL_LABEL
#undef EXPCTL_NO_DOUBLE

#define EXPCTL_INTEGER_UNARY(name) \
    EXPCTL_EVERYWHERE(template <EXPCTL_INTEGER(T)> EXPCTL_DEVICE double name(T x) { return __builtin_##name(double(x)); })
EXPCTL_INTEGER_UNARY(sqrt)
EXPCTL_INTEGER_UNARY(fabs)
EXPCTL_INTEGER_UNARY(floor)
EXPCTL_INTEGER_UNARY(ceil)
EXPCTL_INTEGER_UNARY(trunc)
EXPCTL_INTEGER_UNARY(rint)
EXPCTL_INTEGER_UNARY(nearbyint)
EXPCTL_INTEGER_UNARY(round)
#undef EXPCTL_INTEGER_UNARY

namespace std {
EXPCTL_DEVICE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
EXPCTL_DEVICE double fmin(double a, double b) { return __builtin_fmin(a, b); }
EXPCTL_DEVICE double fmax(double a, double b) { return __builtin_fmax(a, b); }
}
EXPCTL_EVERYWHERE(
    EXPCTL_DEVICE double abs(double x) { return __builtin_fabs(x); }
    EXPCTL_DEVICE int abs(int x) { return x < 0 ? -x : x; }
    EXPCTL_DEVICE long abs(long x) { return x < 0 ? -x : x; }
    EXPCTL_DEVICE long long abs(long long x) { return x < 0 ? -x : x; })
EXPCTL_EVERYWHERE(
    template <EXPCTL_MIXED(A, B)> EXPCTL_DEVICE double fmin(A a, B b) { return __builtin_fmin(double(a), double(b)); }
    template <EXPCTL_MIXED(A, B)> EXPCTL_DEVICE double fmax(A a, B b) { return __builtin_fmax(double(a), double(b)); })
EXPCTL_DEVICE bool isnan(double x) { return __builtin_isnan(x); }
EXPCTL_DEVICE bool isinf(double x) { return __builtin_isinf(x); }
EXPCTL_DEVICE bool isfinite(double x) { return __builtin_isfinite(x); }
#undef EXPCTL_EVERYWHERE
#undef EXPCTL_INTEGER
#undef EXPCTL_MIXED
