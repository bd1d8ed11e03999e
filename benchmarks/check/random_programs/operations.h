// What random programs compute with, for the device and for the host. Every operation is defined for all operands: counts of shifts
// are masked, divisors and ranges of conversions are tested, and no bit of a NaN and no sign of a minimum of zeros reaches a result.
#pragma once
#pragma clang fp contract(off)

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef _Float16 f16;
typedef float f32;
typedef double f64;
#define VECTOR(T, N) typedef T T##x##N __attribute__((ext_vector_type(N)));
VECTOR(u8, 4) VECTOR(i16, 2) VECTOR(u16, 2) VECTOR(f16, 2) VECTOR(i32, 2) VECTOR(u32, 2) VECTOR(u32, 4) VECTOR(f32, 2) VECTOR(f32, 4)

#define INLINED static __device__ inline __attribute__((always_inline))
#define CALLED static __device__ __attribute__((noinline))

// Unsigned type, type without promotion or overflow for + - * <<, type of a whole product.
template <class T> struct Of;
#define INTEGERS(S, U, WORK, WIDE_S, WIDE_U) \
    template <> struct Of<S> { typedef U Unsigned; typedef WORK Work; typedef WIDE_S Wide; static constexpr bool is_signed = true; }; \
    template <> struct Of<U> { typedef U Unsigned; typedef WORK Work; typedef WIDE_U Wide; static constexpr bool is_signed = false; };
INTEGERS(i8, u8, u32, i32, u32)
INTEGERS(i16, u16, u32, i32, u32)
INTEGERS(i32, u32, u32, i64, u64)
INTEGERS(i64, u64, u64, __int128, unsigned __int128)

#define EACH template <class T> INLINED
EACH T negated(T a) { return T(0 - typename Of<T>::Work(a)); }
EACH T quotient(T a, T b) {
    if (b == 0) return a;
    if (Of<T>::is_signed && b == T(-1)) return negated(a);
    return T(a / b);
}
EACH T remaining(T a, T b) {
    if (b == 0 || (Of<T>::is_signed && b == T(-1))) return T(0);
    return T(a % b);
}
EACH T high_product(T a, T b) { return T((typename Of<T>::Wide(a) * typename Of<T>::Wide(b)) >> (8 * sizeof(T))); }
EACH T least(T a, T b) { return b < a ? b : a; }
EACH T most(T a, T b) { return a < b ? b : a; }
EACH T middle(T a, T b, T c) { return most(least(a, b), least(most(a, b), c)); }
EACH T clamped(T a, T low, T high) { return least(most(a, low), high); }
EACH T magnitude(T a) { return a < T(0) ? negated(a) : a; }
EACH T distance_between(T a, T b) {
    typedef typename Of<T>::Work W;
    return T(a > b ? W(a) - W(b) : W(b) - W(a));
}
EACH T rotated(T a, u32 n) {
    typename Of<T>::Unsigned u = a;
    if constexpr (sizeof(T) == 1) return T(__builtin_rotateleft8(u, u8(n)));
    if constexpr (sizeof(T) == 2) return T(__builtin_rotateleft16(u, u16(n)));
    if constexpr (sizeof(T) == 4) return T(__builtin_rotateleft32(u, n));
    if constexpr (sizeof(T) == 8) return T(__builtin_rotateleft64(u, n));
}
EACH T reversed(T a) {
    typename Of<T>::Unsigned u = a;
    if constexpr (sizeof(T) == 1) return T(__builtin_bitreverse8(u));
    if constexpr (sizeof(T) == 2) return T(__builtin_bitreverse16(u));
    if constexpr (sizeof(T) == 4) return T(__builtin_bitreverse32(u));
    if constexpr (sizeof(T) == 8) return T(__builtin_bitreverse64(u));
}
EACH T bytes_swapped(T a) {
    typename Of<T>::Unsigned u = a;
    if constexpr (sizeof(T) == 1) return a;
    if constexpr (sizeof(T) == 2) return T(__builtin_bswap16(u));
    if constexpr (sizeof(T) == 4) return T(__builtin_bswap32(u));
    if constexpr (sizeof(T) == 8) return T(__builtin_bswap64(u));
}
EACH T ones(T a) { return T(__builtin_popcountg(typename Of<T>::Unsigned(a))); }
EACH T leading_zeros(T a) { return T(__builtin_clzg(typename Of<T>::Unsigned(a), int(8 * sizeof(T)))); }
EACH T trailing_zeros(T a) { return T(__builtin_ctzg(typename Of<T>::Unsigned(a), int(8 * sizeof(T)))); }
EACH T first_set(T a) { return a == 0 ? T(0) : T(trailing_zeros(a) + 1); }
EACH T sum_saturated(T a, T b) { return __builtin_elementwise_add_sat(a, b); }
EACH T difference_saturated(T a, T b) { return __builtin_elementwise_sub_sat(a, b); }
EACH bool sum_overflows(T a, T b) { T c; return __builtin_add_overflow(a, b, &c); }
EACH bool difference_overflows(T a, T b) { T c; return __builtin_sub_overflow(a, b, &c); }
EACH bool product_overflows(T a, T b) { T c; return __builtin_mul_overflow(a, b, &c); }

// Floating point: the same names, and the bits with one NaN for all.
#define FLOATS(F, U, INF, NAN_BITS, SUFFIX, MOST_EXPONENT) \
    INLINED U one_nan(U b) { return U(b & U(U(~U(0)) >> 1)) > U(INF) ? U(NAN_BITS) : b; } \
    INLINED U bits(F x) { return one_nan(__builtin_bit_cast(U, x)); } \
    INLINED F of_bits(U b, F) { return __builtin_bit_cast(F, one_nan(b)); } \
    INLINED F least(F a, F b) { return F(__builtin_fmin##SUFFIX(a, b) + F(0)); } \
    INLINED F most(F a, F b) { return F(__builtin_fmax##SUFFIX(a, b) + F(0)); } \
    INLINED F unit_clamped(F a) { return F(__builtin_fmin##SUFFIX(__builtin_fmax##SUFFIX(a, F(0)), F(1)) + F(0)); } \
    INLINED F magnitude(F a) { return __builtin_fabs##SUFFIX(a); } \
    INLINED F with_sign(F a, F b) { return __builtin_copysign##SUFFIX(a, b != b ? F(1) : b); } \
    INLINED bool is_negative(F a) { return bits(a) >> (8 * sizeof(U) - 1) != 0; } \
    INLINED F root(F a) { return __builtin_sqrt##SUFFIX(a); } \
    INLINED F floored(F a) { return __builtin_floor##SUFFIX(a); } \
    INLINED F ceiled(F a) { return __builtin_ceil##SUFFIX(a); } \
    INLINED F truncated(F a) { return __builtin_trunc##SUFFIX(a); } \
    INLINED F rounded(F a) { return __builtin_round##SUFFIX(a); } \
    INLINED F rounded_even(F a) { return __builtin_rint##SUFFIX(a); } \
    INLINED F fraction(F a) { return F(a - floored(a)); } \
    INLINED F scaled(F a, i32 n) { return __builtin_ldexp##SUFFIX(a, clamped<i32>(n, -MOST_EXPONENT, MOST_EXPONENT)); } \
    INLINED bool has_exponent(F a) { return a == a && a != F(0) && magnitude(a) != F(__builtin_inff()); } \
    INLINED F mantissa(F a) { i32 n = 0; return has_exponent(a) ? __builtin_frexp##SUFFIX(a, &n) : a; } \
    INLINED i32 exponent(F a) { \
        i32 n = 0; \
        if (!has_exponent(a)) return 0; \
        (void)__builtin_frexp##SUFFIX(a, &n); \
        return n; \
    }
FLOATS(f16, u16, 0x7c00, 0x7e00, f16, 60)
FLOATS(f32, u32, 0x7f800000u, 0x7fc00000u, f, 400)
FLOATS(f64, u64, 0x7ff0000000000000ull, 0x7ff8000000000000ull, , 3000)

// An integer from a float; 0 where it doesn't fit, and of a NaN.
template <class I, class F> INLINED I whole(F x) {
    typedef decltype(x + 1.0f) Tested;  // f32 or f64
    constexpr int most = 8 * sizeof(I) - Of<I>::is_signed;
    const Tested t = x, end = Tested(u64(1) << (most - 1)) * 2;
    return (Of<I>::is_signed ? t >= -end : t > Tested(-1)) && t < end ? I(x) : I(0);
}

INLINED f32 fused(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
INLINED f64 fused(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
INLINED f16 fused(f16 a, f16 b, f16 c) {
#ifdef __HIP__
    return __builtin_fmaf16(a, b, c);
#else  // The product is exact. The sum is rounded to odd, so that rounding it again to f16 gives the exact sum's f16.
    f64 p = f64(a) * f64(b), s = p + c, part = s - p, error = (p - (s - part)) + (c - part);
    u64 b64 = __builtin_bit_cast(u64, s);
    if (s - s == 0 && error != 0 && (b64 & 1) == 0) b64 += (error > 0) == (s > 0) ? 1 : -1;
    return f16(__builtin_bit_cast(f64, b64));
#endif
}
// Products of halves in single precision: what v_fma_mix_f32 and v_fma_mixlo_f16 do.
INLINED f32 mixed(f16 a, f16 b, f32 c) { return __builtin_fmaf(f32(a), f32(b), c); }

// Bytes at any address.
template <class T> INLINED T read(const u8 *p) {
    T value;
    __builtin_memcpy(&value, p, sizeof(T));
    return value;
}
template <class T> INLINED void write(u8 *p, T value) { __builtin_memcpy(p, &value, sizeof(T)); }

// Instructions that have a builtin function: the ISA manual's definitions for the host.
#ifdef __HIP__
INLINED u32 byte_permuted(u32 a, u32 b, u32 c) { return __builtin_amdgcn_perm(a, b, c); }
INLINED u32 aligned_bit(u32 a, u32 b, u32 c) { return __builtin_amdgcn_alignbit(a, b, c); }
INLINED u32 aligned_byte(u32 a, u32 b, u32 c) { return __builtin_amdgcn_alignbyte(a, b, c); }
INLINED u32 field(u32 a, u32 b, u32 c) { return __builtin_amdgcn_ubfe(a, b, c); }
INLINED i32 signed_field(i32 a, u32 b, u32 c) { return __builtin_amdgcn_sbfe(a, b, c); }
INLINED u32 byte_distances(u32 a, u32 b, u32 c) { return __builtin_amdgcn_sad_u8(a, b, c); }
INLINED u32 byte_means(u32 a, u32 b, u32 c) { return __builtin_amdgcn_lerp(a, b, c); }
INLINED f32 middle_number(f32 a, f32 b, f32 c) { return __builtin_amdgcn_fmed3f(a, b, c); }
#else
INLINED u32 byte_permuted(u32 a, u32 b, u32 c) {
    u64 both = u64(a) << 32 | b;
    u32 result = 0;
    for (int i = 0; i < 4; ++i) {
        u32 s = c >> (8 * i) & 255;
        u32 byte = s < 8 ? both >> (8 * s) & 255 : s < 12 ? (both >> (16 * (s - 8) + 15) & 1) * 255 : s == 12 ? 0 : 255;
        result |= byte << (8 * i);
    }
    return result;
}
INLINED u32 aligned_bit(u32 a, u32 b, u32 c) { return u32((u64(a) << 32 | b) >> (c & 31)); }
INLINED u32 aligned_byte(u32 a, u32 b, u32 c) { return u32((u64(a) << 32 | b) >> (8 * (c & 3))); }
INLINED u32 field(u32 a, u32 b, u32 c) { return a >> (b & 31) & ((1u << (c & 31)) - 1); }
INLINED i32 signed_field(i32 a, u32 b, u32 c) {
    u32 width = c & 31;
    return width == 0 ? 0 : i32(u32(a >> (b & 31)) << (32 - width)) >> (32 - width);
}
INLINED u32 byte_distances(u32 a, u32 b, u32 c) {
    for (int i = 0; i < 32; i += 8) c += distance_between(a >> i & 255, b >> i & 255);
    return c;
}
INLINED u32 byte_means(u32 a, u32 b, u32 c) {
    u32 result = 0;
    for (int i = 0; i < 32; i += 8) result |= ((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) >> 1 << i;
    return result;
}
INLINED f32 middle_number(f32 a, f32 b, f32 c) { return most(least(a, b), least(most(a, b), c)); }
#endif
INLINED f32 middle(f32 a, f32 b, f32 c) {
    return middle_number(a == a ? a : 0.0f, b == b ? b : 0.0f, c == c ? c : 0.0f) + 0.0f;
}
