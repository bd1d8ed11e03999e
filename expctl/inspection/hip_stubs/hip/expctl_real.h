// Functions for which an AMD GPU has no instruction, in single and double precision, by series and identities of our own. The error
// is a few units in the last place; where it is more, the function says so. Single precision takes clang's own exp, log and roots.
#pragma once

namespace expctl {

template <class T> constexpr bool is_double = sizeof(T) == 8;
template <class T> constexpr T infinity = __builtin_huge_val();
template <class T> constexpr T not_a_number = __builtin_nan("");

// A constant as the sum of three numbers of type T, of which the first has the most digits.
struct split { double high, middle, low; };
template <class T> constexpr split in_parts(double high, double middle, double low) {
    if (is_double<T>) return {high, middle, low};
    return {float(high), float(high - float(high)), float(high - float(high) - float(high - float(high)))};
}
template <class T> constexpr split half_pi = in_parts<T>(1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33);
template <class T> constexpr split ln_2 = in_parts<T>(0.6931471805599453, 2.3190468138462996e-17, 5.707708438416212e-34);


#define EXPCTL_PLAIN(T, suffix) \
    EXPCTL_DEVICE T fma(T a, T b, T c) { return __builtin_fma##suffix(a, b, c); } \
    EXPCTL_DEVICE T sqrt(T x) { return __builtin_sqrt##suffix(x); } \
    EXPCTL_DEVICE T fabs(T x) { return __builtin_fabs##suffix(x); } \
    EXPCTL_DEVICE T floor(T x) { return __builtin_floor##suffix(x); } \
    EXPCTL_DEVICE T ceil(T x) { return __builtin_ceil##suffix(x); } \
    EXPCTL_DEVICE T trunc(T x) { return __builtin_trunc##suffix(x); } \
    EXPCTL_DEVICE T rint(T x) { return __builtin_rint##suffix(x); } \
    EXPCTL_DEVICE T nearbyint(T x) { return __builtin_rint##suffix(x); } \
    EXPCTL_DEVICE T round(T x) { return __builtin_round##suffix(x); } \
    EXPCTL_DEVICE T copysign(T x, T sign) { return __builtin_copysign##suffix(x, sign); } \
    EXPCTL_DEVICE T ldexp(T x, int n) { return __builtin_ldexp##suffix(x, n); } \
    EXPCTL_DEVICE T frexp(T x, int *n) { return __builtin_frexp##suffix(x, n); } \
    EXPCTL_DEVICE T fmod(T x, T y) { return __builtin_fmod##suffix(x, y); } \
    EXPCTL_DEVICE T fmin(T x, T y) { return __builtin_fmin##suffix(x, y); } \
    EXPCTL_DEVICE T fmax(T x, T y) { return __builtin_fmax##suffix(x, y); }
EXPCTL_PLAIN(float, f)
EXPCTL_PLAIN(double, )
#undef EXPCTL_PLAIN
EXPCTL_DEVICE float exp(float x) { return __builtin_expf(x); }
EXPCTL_DEVICE float exp2(float x) { return __builtin_exp2f(x); }
EXPCTL_DEVICE float exp10(float x) { return __builtin_exp10f(x); }
EXPCTL_DEVICE float log(float x) { return __builtin_logf(x); }
EXPCTL_DEVICE float log2(float x) { return __builtin_log2f(x); }
EXPCTL_DEVICE float log10(float x) { return __builtin_log10f(x); }
EXPCTL_DEVICE float rsqrt(float x) { return __builtin_amdgcn_rsqf(x); }
EXPCTL_DEVICE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

// (e^r - 1) / r for |r| <= 0.35: 1 + r/2 (1 + r/3 (1 + ...)).
template <class T> EXPCTL_DEVICE T exp_quotient(T r) {
    T sum = 1;
#pragma unroll
    for (int n = is_double<T> ? 15 : 8; n > 1; --n) sum = fma(sum, r * T(1.0 / n), T(1));
    return sum;
}
// 2^k e^r; past the ends of the range 0 or infinity.
EXPCTL_DEVICE double exp_of(double k, double r) {
    int power = int(fmin(fmax(k, -3000.0), 3000.0));
    return ldexp(fma(exp_quotient(r), r, 1.0), power);
}
EXPCTL_DEVICE double exp(double x) {
    double k = rint(x * 1.4426950408889634);
    double r = fma(-k, ln_2<double>.middle, fma(-k, ln_2<double>.high, x));
    return __builtin_isinf(x) ? (x > 0 ? x : 0.0) : exp_of(k, r);
}
EXPCTL_DEVICE double exp2(double x) {
    double k = rint(x);
    return __builtin_isinf(x) ? (x > 0 ? x : 0.0) : exp_of(k, (x - k) * ln_2<double>.high);
}
EXPCTL_DEVICE double exp10(double x) {  // log2(10) and ln(10) in two parts
    double k = rint(x * 3.321928094887362), t = x * 2.302585092994046;
    double rest = fma(x, 2.302585092994046, -t) + x * -2.1707562233822494e-16;
    double r = fma(-k, ln_2<double>.high, t) + fma(-k, ln_2<double>.middle, rest);
    return __builtin_isinf(x) ? (x > 0 ? x : 0.0) : exp_of(k, r);
}
template <class T> EXPCTL_DEVICE T expm1(T x) { return fabs(x) < T(0.35) ? x * exp_quotient(x) : exp(x) - T(1); }

// A number as m 2^e, with m from sqrt(1/2) to sqrt(2).
template <class T> EXPCTL_DEVICE T mantissa(T x, int *e) {
    T m = frexp(x, e);
    if (m < T(0.7071067811865476)) m += m, --*e;
    return m;
}
// ln((1 + s) / (1 - s)) = 2 s (1 + s^2/3 + s^4/5 + ...).
EXPCTL_DEVICE double log(double x) {
    int e;
    double m = mantissa(x, &e), s = (m - 1) / (m + 1), z = s * s, sum = 0;
#pragma unroll
    for (int n = 21; n > 1; n -= 2) sum = fma(sum, z, 1.0 / n);
    double found = fma(double(e), ln_2<double>.high, 2 * s + fma(2 * s * z, sum, e * ln_2<double>.middle));
    return x > 0 ? (__builtin_isinf(x) ? x : found) : x == 0 ? -infinity<double> : not_a_number<double>;
}
EXPCTL_DEVICE double log2(double x) {
    int e;
    double m = mantissa(x, &e);
    return x > 0 && !__builtin_isinf(x) ? e + log(m) * 1.4426950408889634 : log(x);
}
EXPCTL_DEVICE double log10(double x) { return log(x) * 0.4342944819032518; }
template <class T> EXPCTL_DEVICE T log1p(T x) {
    T sum = 1 + x, taken = sum - 1;
    return taken == 0 || __builtin_isinf(x) ? x : log(sum) * (x / taken);
}

// |x|^y is 2^k 2^f: only f is rounded. Single precision 1e-6, double 1e-13 where |y| is below 1000.
template <class T> EXPCTL_DEVICE T power_of_size(T a, T y) {
    if (a == 0 || __builtin_isinf(a) || __builtin_isinf(y)) return a == 1 ? T(1) : (a > 1) == (y > 0) ? infinity<T> : T(0);
    int e;
    T l = log2(mantissa(a, &e)), power = fma(y, T(e), y * l);
    if (fabs(power) > 2000) return power > 0 ? infinity<T> : T(0);
    T k = rint(power);
    return ldexp(exp2(fma(y, l, fma(y, T(e), -k))), int(k));
}
template <class T> EXPCTL_DEVICE T pow(T x, T y) {
    bool whole = trunc(y) == y, odd = whole && trunc(T(0.5) * y) != T(0.5) * y;
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return x + y;
    T size = power_of_size(fabs(x), y);
    if (__builtin_signbit(x) && odd) return -size;
    return x >= 0 || whole || __builtin_isinf(x) ? size : not_a_number<T>;
}
template <class T> EXPCTL_DEVICE T cbrt(T x) {
    if (x == 0 || x != x || __builtin_isinf(x)) return x;
    int e;
    T m = mantissa(fabs(x), &e);
    int third = (e + 3000) / 3 - 1000;
    m = ldexp(m, e - 3 * third);
    T root = T(exp2(log2(float(m)) * 0.33333334f));
#pragma unroll
    for (int n = is_double<T> ? 2 : 1; n > 0; --n) root -= (root - m / (root * root)) * T(1.0 / 3);
    return copysign(ldexp(root, third), x);
}
template <class T> EXPCTL_DEVICE T rcbrt(T x) { return 1 / cbrt(x); }
template <class T> EXPCTL_DEVICE T hypot(T x, T y) {
    T most = fmax(fabs(x), fabs(y)), least = fmin(fabs(x), fabs(y)), ratio = least / most;
    if (__builtin_isinf(x) || __builtin_isinf(y)) return infinity<T>;
    return x != x || y != y ? x + y : most == 0 ? most : most * sqrt(fma(ratio, ratio, T(1)));
}
template <class T> EXPCTL_DEVICE T rhypot(T x, T y) { return 1 / hypot(x, y); }
template <class T> EXPCTL_DEVICE T norm3d(T x, T y, T z) { return hypot(hypot(x, y), z); }
template <class T> EXPCTL_DEVICE T norm4d(T x, T y, T z, T w) { return hypot(hypot(x, y), hypot(z, w)); }
template <class T> EXPCTL_DEVICE T rnorm3d(T x, T y, T z) { return 1 / norm3d(x, y, z); }
template <class T> EXPCTL_DEVICE T rnorm4d(T x, T y, T z, T w) { return 1 / norm4d(x, y, z, w); }

// Sine and cosine of r, |r| <= pi/4, by their series; then of n quarter turns more.
template <class T> EXPCTL_DEVICE void turned(T r, T n, T *sine, T *cosine) {
    T z = r * r, s = 1, c = 1;
#pragma unroll
    for (int k = is_double<T> ? 17 : 9; k > 1; k -= 2) s = fma(s, z * T(-1.0 / (k * (k - 1))), T(1));
#pragma unroll
    for (int k = is_double<T> ? 18 : 10; k > 0; k -= 2) c = fma(c, z * T(-1.0 / (k * (k - 1))), T(1));
    s *= r;
    T quarter = n - 4 * floor(T(0.25) * n);
    bool swaps = quarter == 1 || quarter == 3;
    T found_s = swaps ? c : s, found_c = swaps ? s : c;
    *sine = quarter >= 2 ? -found_s : found_s;
    *cosine = quarter == 1 || quarter == 2 ? -found_c : found_c;
}
// Exact to some 1e-7 (single precision) for angles up to 100 000, and to 1e-15 up to 1e8.
template <class T> EXPCTL_DEVICE void sincos(T x, T *sine, T *cosine) {
    T n = rint(x * T(0.6366197723675814));
    T r = fma(-n, T(half_pi<T>.low), fma(-n, T(half_pi<T>.middle), fma(-n, T(half_pi<T>.high), x)));
    turned(r, n, sine, cosine);
}
template <class T> EXPCTL_DEVICE void sincospi(T x, T *sine, T *cosine) {
    T n = rint(2 * x);
    turned(fma(T(-0.5), n, x) * T(3.141592653589793), n, sine, cosine);
}
#define EXPCTL_PART(name, both, part) \
    template <class T> EXPCTL_DEVICE T name(T x) { \
        T sine, cosine; \
        both(x, &sine, &cosine); \
        return part; \
    }
EXPCTL_PART(sin, sincos, sine)
EXPCTL_PART(cos, sincos, cosine)
EXPCTL_PART(tan, sincos, sine / cosine)
EXPCTL_PART(sinpi, sincospi, sine)
EXPCTL_PART(cospi, sincospi, cosine)
#undef EXPCTL_PART

// arctan y = 2 arctan(y / (1 + sqrt(1 + y^2))), once or twice; then y - y^3/3 + y^5/5 - ...
template <class T> EXPCTL_DEVICE T atan(T x) {
    T a = fabs(x), y = a > 1 ? 1 / a : a, sum = 0;
    y = y / (1 + sqrt(fma(y, y, T(1))));
    if (is_double<T>) y = y / (1 + sqrt(fma(y, y, T(1))));
    T z = y * y;
#pragma unroll
    for (int n = is_double<T> ? 21 : 15; n > 0; n -= 2) sum = fma(-sum, z, T(1.0 / n));
    T angle = y * sum * (is_double<T> ? 4 : 2);
    return copysign(a > 1 ? T(half_pi<T>.high) - (angle - T(half_pi<T>.middle)) : angle, x);
}
template <class T> EXPCTL_DEVICE T atan2(T y, T x) {
    bool both = (x == 0 && y == 0) || (__builtin_isinf(x) && __builtin_isinf(y));
    T angle = both ? (x == 0 ? T(0) : T(0.7853981633974483)) : atan(fabs(y) / fabs(x));
    if (__builtin_signbit(x)) angle = T(2 * half_pi<T>.high) - (angle - T(2 * half_pi<T>.middle));
    return copysign(angle, y);
}
template <class T> EXPCTL_DEVICE T asin(T x) { return atan2(x, sqrt((1 - x) * (1 + x))); }
template <class T> EXPCTL_DEVICE T acos(T x) { return atan2(sqrt((1 - x) * (1 + x)), x); }

template <class T> EXPCTL_DEVICE T tanh(T x) {
    T e = expm1(-2 * fabs(x));
    return copysign(-e / (2 + e), x);
}
template <class T> EXPCTL_DEVICE T sinh(T x) {
    T a = fabs(x), e = expm1(a), half = exp(T(0.5) * a);
    return copysign(a > 40 ? T(0.5) * half * half : T(0.5) * (e + e / (e + 1)), x);
}
template <class T> EXPCTL_DEVICE T cosh(T x) {
    T half = exp(T(0.5) * fabs(x)), e = half * half;
    return fabs(x) > 40 ? T(0.5) * half * half : T(0.5) * (e + 1 / e);
}
template <class T> EXPCTL_DEVICE T asinh(T x) {
    T a = fabs(x);
    return copysign(a > T(1e9) ? log(a) + T(ln_2<T>.high) : log1p(a + a * a / (1 + sqrt(fma(a, a, T(1))))), x);
}
template <class T> EXPCTL_DEVICE T acosh(T x) {
    T t = x - 1;
    return x > T(1e9) ? log(x) + T(ln_2<T>.high) : log1p(t + sqrt(fma(t, t, 2 * t)));
}
template <class T> EXPCTL_DEVICE T atanh(T x) { return copysign(T(0.5) * log1p(2 * fabs(x) / (1 - fabs(x))), x); }

template <class T> EXPCTL_DEVICE T fdim(T x, T y) { return x != x || y != y ? x + y : x > y ? x - y : T(0); }
template <class T> EXPCTL_DEVICE T logb(T x) {
    int e;
    frexp(x, &e);
    return x == 0 ? -infinity<T> : __builtin_isinf(x) ? infinity<T> : x != x ? x : T(e - 1);
}
template <class T> EXPCTL_DEVICE T modf(T x, T *whole) {
    *whole = trunc(x);
    return copysign(__builtin_isinf(x) ? T(0) : x - *whole, x);
}
// Exact where x / y is below 2^23 (single) or 2^52.
template <class T> EXPCTL_DEVICE T remainder(T x, T y) { return __builtin_isinf(y) ? x : fma(-rint(x / y), y, x); }

// e^(-x^2), with what the square loses.
template <class T> EXPCTL_DEVICE T exp_of_square(T x) {
    T square = x * x, lost = fma(x, x, -square);
    return fabs(x) > 40 ? T(0) : exp(-square) * (1 - lost);
}
// Continued fraction of erfc for x >= 1 (single) or 2.
template <class T> EXPCTL_DEVICE T erfc_of_large(T x) {
    T below = x;
    for (int n = is_double<T> ? 60 : 40; n > 0; --n) below = x + T(0.5) * T(n) / below;
    return exp_of_square(x) * T(0.5641895835477563) / below;
}
EXPCTL_DEVICE double erf_of_small(double x) {  // 2 / sqrt(pi) e^(-x^2) (x + 2 x^3 / 3 + 4 x^5 / 15 + ...)
    double term = x, sum = x;
    for (int n = 1; n < 60; ++n) term *= 2 * x * x / (2 * n + 1), sum += term;
    return 1.1283791670955126 * exp_of_square(x) * sum;
}
EXPCTL_DEVICE double erfc(double x) {
    return x > 2 ? erfc_of_large(x) : x < -2 ? 2 - erfc_of_large(-x) : 1 - erf_of_small(x);
}
EXPCTL_DEVICE double erf(double x) { return fabs(x) > 2 ? copysign(1 - erfc_of_large(fabs(x)), x) : erf_of_small(x); }
EXPCTL_DEVICE float erf(float x) {  // the series below 1; above, Abramowitz and Stegun 7.1.26, absolute error below 2e-7
    float a = fabs(x), t = 1.0f / (1.0f + 0.3275911f * a), z = x * x, sum = 1;
    float p = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
#pragma unroll
    for (int n = 10; n > 0; --n) sum = fma(sum, z * float(-(2.0 * n - 1) / (n * (2.0 * n + 1))), 1.0f);
    return a < 1 ? 1.12837917f * x * sum : copysign(1.0f - p * exp(-a * a), x);
}
EXPCTL_DEVICE float erfc(float x) { return x >= 1 ? erfc_of_large(x) : 1 - erf(x); }
template <class T> EXPCTL_DEVICE T erfcx(T x) { return exp(x * x) * erfc(x); }
template <class T> EXPCTL_DEVICE T normcdf(T x) { return T(0.5) * erfc(x * T(-0.7071067811865476)); }

// Stirling's series after a shift to x >= 8. lgamma: absolute error 1e-6 (single) and 1e-14; tgamma 1e-5 and 1e-13.
template <class T> EXPCTL_DEVICE T lgamma_of_positive(T x) {
    T shift = 1;
    for (; x < 8; x += 1) shift *= x;
    T y = 1 / x, z = y * y;
    T sum = T(1.0 / 156);
    sum = fma(sum, z, T(-691.0 / 360360)), sum = fma(sum, z, T(1.0 / 1188)), sum = fma(sum, z, T(-1.0 / 1680));
    sum = fma(sum, z, T(1.0 / 1260)), sum = fma(sum, z, T(-1.0 / 360)), sum = fma(sum, z, T(1.0 / 12));
    return (x - T(0.5)) * log(x) - x + T(0.9189385332046728) + sum * y - log(shift);
}
template <class T> EXPCTL_DEVICE T lgamma(T x) {
    if (x <= 0 && trunc(x) == x) return infinity<T>;
    if (__builtin_isinf(x)) return infinity<T>;
    T found = lgamma_of_positive(x < T(0.5) ? 1 - x : x);
    return x < T(0.5) ? T(1.1447298858494002) - log(fabs(sinpi(x))) - found : found;
}
template <class T> EXPCTL_DEVICE T tgamma(T x) {
    if (x < 0 && trunc(x) == x) return not_a_number<T>;
    if (x == 0 || __builtin_isinf(x)) return x > 0 || x == 0 ? copysign(infinity<T>, x) : not_a_number<T>;
    T size = exp(lgamma(x));
    return x < 0 && sinpi(x) < 0 ? -size : size;
}
}  // namespace expctl
