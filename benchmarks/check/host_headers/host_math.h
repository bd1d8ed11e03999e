// Mathematics in single precision. Functions that the machine, or its library, rounds in its own way are computed in double
// precision and rounded once; their names are noted, for results that depend on them are compared within a limit.
#pragma once

namespace expctl_host {
static const char *rounded[64];  // names of such functions that were called
static int rounded_count;
static bool noted(const char *name) {
    rounded[rounded_count++] = name;
    return true;
}
}  // namespace expctl_host

#define HOST_NOTE(name) \
    static const bool is_noted = expctl_host::noted(name); \
    (void)is_noted;
#define HOST_ROUNDED(function, shown, value) \
    static inline float function(float from) { \
        HOST_NOTE(shown) \
        const double x = from; \
        return float(value); \
    }
// Takes the place of a function of the C library under the name `name`, by a macro that follows below.
#define HOST_REPLACED(name) \
    static inline float expctl_##name(float from) { \
        HOST_NOTE(#name) \
        return float(::name(double(from))); \
    } \
    static inline double expctl_##name(double x) { return ::name(x); } \
    namespace std { using ::expctl_##name; }
HOST_REPLACED(exp)
HOST_REPLACED(exp2)
HOST_REPLACED(log)
HOST_REPLACED(log2)
HOST_REPLACED(log10)
HOST_REPLACED(sin)
HOST_REPLACED(cos)
HOST_REPLACED(tan)
HOST_REPLACED(tanh)
HOST_REPLACED(expm1)
HOST_REPLACED(log1p)
HOST_REPLACED(cbrt)
HOST_REPLACED(erf)
#undef HOST_REPLACED
static inline float expctl_pow(float x, float y) {
    HOST_NOTE("pow")
    return float(::pow(double(x), double(y)));
}
static inline double expctl_pow(double x, double y) { return ::pow(x, y); }
namespace std { using ::expctl_pow; }
#define exp(...) expctl_exp(__VA_ARGS__)
#define exp2(...) expctl_exp2(__VA_ARGS__)
#define log(...) expctl_log(__VA_ARGS__)
#define log2(...) expctl_log2(__VA_ARGS__)
#define log10(...) expctl_log10(__VA_ARGS__)
#define sin(...) expctl_sin(__VA_ARGS__)
#define cos(...) expctl_cos(__VA_ARGS__)
#define tanh(...) expctl_tanh(__VA_ARGS__)
#define pow(...) expctl_pow(__VA_ARGS__)
#define expf(...) expctl_exp(float(__VA_ARGS__))
#define exp2f(...) expctl_exp2(float(__VA_ARGS__))
#define logf(...) expctl_log(float(__VA_ARGS__))
#define log2f(...) expctl_log2(float(__VA_ARGS__))
#define log10f(...) expctl_log10(float(__VA_ARGS__))
#define sinf(...) expctl_sin(float(__VA_ARGS__))
#define cosf(...) expctl_cos(float(__VA_ARGS__))
#define tanf(...) expctl_tan(float(__VA_ARGS__))
#define tanhf(...) expctl_tanh(float(__VA_ARGS__))
#define expm1f(...) expctl_expm1(float(__VA_ARGS__))
#define log1pf(...) expctl_log1p(float(__VA_ARGS__))
#define cbrtf(...) expctl_cbrt(float(__VA_ARGS__))
#define erff(...) expctl_erf(float(__VA_ARGS__))
#define powf(...) expctl_pow(__VA_ARGS__)

HOST_ROUNDED(expctl_rsqrt, "rsqrt", 1 / ::sqrt(x))
HOST_ROUNDED(expctl_fast_exp, "__exp", (::exp)(x))
HOST_ROUNDED(expctl_fast_exp2, "__exp2", (::exp2)(x))
HOST_ROUNDED(expctl_fast_log, "__log", (::log)(x))
HOST_ROUNDED(expctl_fast_log2, "__log2", (::log2)(x))
HOST_ROUNDED(expctl_fast_sin, "__sin", (::sin)(x))
HOST_ROUNDED(expctl_fast_cos, "__cos", (::cos)(x))
HOST_ROUNDED(__builtin_amdgcn_rcpf, "v_rcp", 1 / x)
HOST_ROUNDED(__builtin_amdgcn_rsqf, "v_rsq", 1 / ::sqrt(x))
HOST_ROUNDED(__builtin_amdgcn_sqrtf, "v_sqrt", ::sqrt(x))
HOST_ROUNDED(__builtin_amdgcn_exp2f, "v_exp", (::exp2)(x))
HOST_ROUNDED(__builtin_amdgcn_logf, "v_log", (::log2)(x))
HOST_ROUNDED(__builtin_amdgcn_sinf, "v_sin", (::sin)(2 * M_PI * x))
HOST_ROUNDED(__builtin_amdgcn_cosf, "v_cos", (::cos)(2 * M_PI * x))
#undef HOST_ROUNDED
static inline float expctl_fast_pow(float x, float y) {
    HOST_NOTE("__powf")
    return float((::pow)(double(x), double(y)));
}
// The C library has functions of some of these names.
#define rsqrtf(...) expctl_rsqrt(__VA_ARGS__)
#define __frsqrt_rn(...) expctl_rsqrt(__VA_ARGS__)
#define __expf(...) expctl_fast_exp(__VA_ARGS__)
#define __exp2f(...) expctl_fast_exp2(__VA_ARGS__)
#define __logf(...) expctl_fast_log(__VA_ARGS__)
#define __log2f(...) expctl_fast_log2(__VA_ARGS__)
#define __sinf(...) expctl_fast_sin(__VA_ARGS__)
#define __cosf(...) expctl_fast_cos(__VA_ARGS__)
#define __powf(...) expctl_fast_pow(__VA_ARGS__)
static inline float __fdividef(float a, float b) {
    HOST_NOTE("__fdividef")
    return a / b;
}
HOST_INLINE void expctl_sincos(float x, float *sine, float *cosine) { *sine = sinf(x), *cosine = cosf(x); }
#define sincosf(...) expctl_sincos(__VA_ARGS__)

HOST_INLINE float fdividef(float a, float b) { return a / b; }
HOST_INLINE float __frcp_rn(float x) { return 1 / x; }
HOST_INLINE float __fsqrt_rn(float x) { return std::sqrt(x); }
HOST_INLINE float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
HOST_INLINE float __fmul_rn(float a, float b) { return a * b; }
HOST_INLINE float __fadd_rn(float a, float b) { return a + b; }
HOST_INLINE float __saturatef(float x) { return std::fmin(std::fmax(x, 0.0f), 1.0f); }

#define HOST_LEAST_MOST(T, least, most) \
    HOST_INLINE T min(T a, T b) { return least; } \
    HOST_INLINE T max(T a, T b) { return most; }
HOST_LEAST_MOST(int, a < b ? a : b, a < b ? b : a)
HOST_LEAST_MOST(unsigned, a < b ? a : b, a < b ? b : a)
HOST_LEAST_MOST(long long, a < b ? a : b, a < b ? b : a)
HOST_LEAST_MOST(unsigned long long, a < b ? a : b, a < b ? b : a)
HOST_LEAST_MOST(float, std::fmin(a, b), std::fmax(a, b))
HOST_LEAST_MOST(double, std::fmin(a, b), std::fmax(a, b))
#undef HOST_LEAST_MOST

#define HOST_BITS(name, From, To) \
    HOST_INLINE To name(From x) { return __builtin_bit_cast(To, x); }
HOST_BITS(__float_as_int, float, int)
HOST_BITS(__float_as_uint, float, unsigned)
HOST_BITS(__int_as_float, int, float)
HOST_BITS(__uint_as_float, unsigned, float)
HOST_BITS(__double_as_longlong, double, long long)
HOST_BITS(__longlong_as_double, long long, double)
#undef HOST_BITS
HOST_INLINE int __float2int_rn(float x) { return int(std::nearbyint(x)); }
HOST_INLINE int __float2int_rz(float x) { return int(x); }
HOST_INLINE float __int2float_rn(int x) { return float(x); }
HOST_INLINE float __uint2float_rn(unsigned x) { return float(x); }

HOST_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
HOST_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
HOST_INLINE int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
HOST_INLINE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
HOST_INLINE int __ffs(int x) { return __builtin_ffs(x); }
HOST_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
HOST_INLINE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
HOST_INLINE int __mul24(int a, int b) { return int(unsigned(a << 8 >> 8) * unsigned(b << 8 >> 8)); }
HOST_INLINE int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
HOST_INLINE unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
HOST_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned found = 0;
    for (int i = 0; i < 4; ++i) found |= unsigned(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return found;
}
