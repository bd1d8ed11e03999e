// float4, uint2 and their kin, with the alignment that HIP gives them.
#pragma once

#define HOST_INLINE static inline __attribute__((always_inline))

#define HOST_VECTORS(name, T, align2, align4) \
    struct name##1 { \
        T x; \
    }; \
    struct alignas(align2) name##2 { \
        T x, y; \
        name##2() = default; \
        constexpr name##2(T x, T y) : x(x), y(y) {} \
    }; \
    struct name##3 { \
        T x, y, z; \
        name##3() = default; \
        constexpr name##3(T x, T y, T z) : x(x), y(y), z(z) {} \
    }; \
    struct alignas(align4) name##4 { \
        T x, y, z, w; \
        name##4() = default; \
        constexpr name##4(T x, T y, T z, T w) : x(x), y(y), z(z), w(w) {} \
    }; \
    HOST_INLINE name##2 make_##name##2(T x, T y) { return {x, y}; } \
    HOST_INLINE name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    HOST_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

HOST_VECTORS(char, signed char, 2, 4)
HOST_VECTORS(uchar, unsigned char, 2, 4)
HOST_VECTORS(short, short, 4, 8)
HOST_VECTORS(ushort, unsigned short, 4, 8)
HOST_VECTORS(int, int, 8, 16)
HOST_VECTORS(uint, unsigned, 8, 16)
HOST_VECTORS(longlong, long long, 16, 32)
HOST_VECTORS(ulonglong, unsigned long long, 16, 32)
HOST_VECTORS(float, float, 8, 16)
HOST_VECTORS(double, double, 16, 32)
#undef HOST_VECTORS
