// Least and greatest, bits of numbers, conversions with a rounding, and integer intrinsics.
#pragma once

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
// Numbers of two types, as C++ would add them.
#define EXPCTL_BETWEEN(A, B, T) \
    EXPCTL_BOTH T min(A a, B b) { return min((T)a, (T)b); } \
    EXPCTL_BOTH T min(B a, A b) { return min((T)a, (T)b); } \
    EXPCTL_BOTH T max(A a, B b) { return max((T)a, (T)b); } \
    EXPCTL_BOTH T max(B a, A b) { return max((T)a, (T)b); }
EXPCTL_BETWEEN(int, unsigned, unsigned)
EXPCTL_BETWEEN(int, long, long)
EXPCTL_BETWEEN(int, long long, long long)
EXPCTL_BETWEEN(int, unsigned long, unsigned long)
EXPCTL_BETWEEN(int, unsigned long long, unsigned long long)
EXPCTL_BETWEEN(unsigned, long, long)
EXPCTL_BETWEEN(unsigned, long long, long long)
EXPCTL_BETWEEN(unsigned, unsigned long, unsigned long)
EXPCTL_BETWEEN(unsigned, unsigned long long, unsigned long long)
EXPCTL_BETWEEN(long, unsigned long, unsigned long)
EXPCTL_BETWEEN(long, unsigned long long, unsigned long long)
EXPCTL_BETWEEN(float, double, double)
#undef EXPCTL_BETWEEN

#define EXPCTL_BITS(name, From, To) \
    EXPCTL_BOTH To name(From x) { return __builtin_bit_cast(To, x); }
EXPCTL_BITS(__float_as_int, float, int)
EXPCTL_BITS(__float_as_uint, float, unsigned)
EXPCTL_BITS(__int_as_float, int, float)
EXPCTL_BITS(__uint_as_float, unsigned, float)
EXPCTL_BITS(__double_as_longlong, double, long long)
EXPCTL_BITS(__longlong_as_double, long long, double)
#undef EXPCTL_BITS
EXPCTL_DEVICE int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
EXPCTL_DEVICE int __double2loint(double x) { return int(__double_as_longlong(x)); }
EXPCTL_DEVICE double __hiloint2double(int high, int low) { return __longlong_as_double((long long)high << 32 | unsigned(low)); }

// From a float to an integer: to nearest, to zero, down, up.
#define EXPCTL_TO_INTEGER(name, From, To) \
    EXPCTL_DEVICE To name##_rn(From x) { return (To)expctl::rint(x); } \
    EXPCTL_DEVICE To name##_rz(From x) { return (To)x; } \
    EXPCTL_DEVICE To name##_rd(From x) { return (To)expctl::floor(x); } \
    EXPCTL_DEVICE To name##_ru(From x) { return (To)expctl::ceil(x); }
EXPCTL_TO_INTEGER(__float2int, float, int)
EXPCTL_TO_INTEGER(__float2uint, float, unsigned)
EXPCTL_TO_INTEGER(__float2ll, float, long long)
EXPCTL_TO_INTEGER(__float2ull, float, unsigned long long)
EXPCTL_TO_INTEGER(__double2int, double, int)
EXPCTL_TO_INTEGER(__double2uint, double, unsigned)
EXPCTL_TO_INTEGER(__double2ll, double, long long)
EXPCTL_TO_INTEGER(__double2ull, double, unsigned long long)
#undef EXPCTL_TO_INTEGER
#define EXPCTL_TO_FLOAT(name, From, To) \
    EXPCTL_DEVICE To name(From x) { return (To)x; }
EXPCTL_TO_FLOAT(__int2float_rn, int, float)
EXPCTL_TO_FLOAT(__uint2float_rn, unsigned, float)
EXPCTL_TO_FLOAT(__ll2float_rn, long long, float)
EXPCTL_TO_FLOAT(__ull2float_rn, unsigned long long, float)
EXPCTL_TO_FLOAT(__int2double_rn, int, double)
EXPCTL_TO_FLOAT(__uint2double_rn, unsigned, double)
EXPCTL_TO_FLOAT(__ll2double_rn, long long, double)
EXPCTL_TO_FLOAT(__ull2double_rn, unsigned long long, double)
EXPCTL_TO_FLOAT(__double2float_rn, double, float)
#undef EXPCTL_TO_FLOAT

EXPCTL_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
EXPCTL_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
EXPCTL_DEVICE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
EXPCTL_DEVICE int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
EXPCTL_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
EXPCTL_DEVICE int __ffs(unsigned x) { return __builtin_ffs(int(x)); }
EXPCTL_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
EXPCTL_DEVICE int __ffsll(unsigned long long x) { return __builtin_ffsll((long long)x); }
EXPCTL_DEVICE int __ffsll(unsigned long x) { return __builtin_ffsll((long long)x); }
EXPCTL_DEVICE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
EXPCTL_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
EXPCTL_DEVICE int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
EXPCTL_DEVICE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
EXPCTL_DEVICE int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
EXPCTL_DEVICE unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
EXPCTL_DEVICE long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
EXPCTL_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
EXPCTL_DEVICE unsigned __sad(int a, int b, unsigned sum) { return (a > b ? unsigned(a) - b : unsigned(b) - a) + sum; }
EXPCTL_DEVICE unsigned __usad(unsigned a, unsigned b, unsigned sum) { return (a > b ? a - b : b - a) + sum; }
EXPCTL_DEVICE int __hadd(int a, int b) { return int((long long)a + b >> 1); }
EXPCTL_DEVICE int __rhadd(int a, int b) { return int((long long)a + b + 1 >> 1); }
EXPCTL_DEVICE unsigned __uhadd(unsigned a, unsigned b) { return unsigned((unsigned long long)a + b >> 1); }
EXPCTL_DEVICE unsigned __urhadd(unsigned a, unsigned b) { return unsigned((unsigned long long)a + b + 1 >> 1); }
EXPCTL_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return unsigned(((unsigned long long)high << 32 | low) << (by & 31) >> 32);
}
EXPCTL_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return unsigned(((unsigned long long)high << 32 | low) >> (by & 31));
}
EXPCTL_DEVICE unsigned __bitextract_u32(unsigned x, unsigned first, unsigned bits) { return bits ? x << (32 - first - bits) >> (32 - bits) : 0; }
// Four bytes out of eight: y holds bytes 4 to 7. Selectors above 7 are not CUDA's, and are taken modulo 8.
EXPCTL_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    return __builtin_amdgcn_perm(y, x, ((selector & 7) | (selector & 0x70) << 4 | (selector & 0x700) << 8 | (selector & 0x7000) << 12));
}
// Sums of four products of bytes, or of two of halves and bytes.
template <class Byte, class T> EXPCTL_DEVICE T expctl_dot4(T a, T b, T sum) {
#pragma unroll
    for (int i = 0; i < 32; i += 8) sum += T(Byte(a >> i)) * T(Byte(b >> i));
    return sum;
}
EXPCTL_DEVICE int __dp4a(int a, int b, int sum) { return expctl_dot4<signed char>(a, b, sum); }
EXPCTL_DEVICE unsigned __dp4a(unsigned a, unsigned b, unsigned sum) { return expctl_dot4<unsigned char>(a, b, sum); }
EXPCTL_DEVICE int __dp4a(char4 a, char4 b, int sum) { return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), sum); }
EXPCTL_DEVICE unsigned __dp4a(uchar4 a, uchar4 b, unsigned sum) {
    return __dp4a(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), sum);
}
EXPCTL_DEVICE int amd_mixed_dot(char4 a, char4 b, int sum, bool) { return __dp4a(a, b, sum); }
EXPCTL_DEVICE unsigned amd_mixed_dot(uchar4 a, uchar4 b, unsigned sum, bool) { return __dp4a(a, b, sum); }
