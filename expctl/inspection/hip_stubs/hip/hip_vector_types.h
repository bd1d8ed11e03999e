// float4, uint2 and their kin. Each is a union of its elements and clang's own vector, and may alias: kernels read memory of other
// types through them, and a plain struct would let the compiler reorder those reads with the writes they depend on.
#pragma once

#include "../expctl_keywords.h"

template <class T, int N> struct expctl_native { typedef T type __attribute__((ext_vector_type(N))); };
template <class T> struct expctl_native<T, 3> { typedef T type[3]; };  // without the padding that a vector of three has

#define EXPCTL_VECTOR(name, T, N, ALIGN, elements, parameters, initial, broadcast) \
    struct __attribute__((may_alias)) alignas(ALIGN) name { \
        typedef T value_type; \
        union __attribute__((may_alias)) { \
            struct __attribute__((may_alias)) { T elements; }; \
            expctl_native<T, N>::type data; \
            T at[N]; \
        }; \
        name() = default; \
        __host__ __device__ constexpr name parameters : initial {} \
        __host__ __device__ T &operator[](int i) { return at[i]; } \
        __host__ __device__ const T &operator[](int i) const { return at[i]; } \
    }; \
    static_assert(sizeof(name) == N * sizeof(T), "no padding: memory is read through these types"); \
    __host__ __device__ static inline name make_##name parameters { return name broadcast; }

#define EXPCTL_VECTORS(name, T, ALIGN2, ALIGN4) \
    EXPCTL_VECTOR(name##1, T, 1, sizeof(T), x, (T x), at{x}, (x)) \
    EXPCTL_VECTOR(name##2, T, 2, ALIGN2, EXPCTL_LIST(x, y), (T x, T y), EXPCTL_LIST(at{x, y}), (x, y)) \
    EXPCTL_VECTOR(name##3, T, 3, sizeof(T), EXPCTL_LIST(x, y, z), (T x, T y, T z), EXPCTL_LIST(at{x, y, z}), (x, y, z)) \
    EXPCTL_VECTOR(name##4, T, 4, ALIGN4, EXPCTL_LIST(x, y, z, w), (T x, T y, T z, T w), EXPCTL_LIST(at{x, y, z, w}), (x, y, z, w))
#define EXPCTL_LIST(...) __VA_ARGS__

EXPCTL_VECTORS(char, signed char, 2, 4)
EXPCTL_VECTORS(uchar, unsigned char, 2, 4)
EXPCTL_VECTORS(short, short, 4, 8)
EXPCTL_VECTORS(ushort, unsigned short, 4, 8)
EXPCTL_VECTORS(int, int, 8, 16)
EXPCTL_VECTORS(uint, unsigned int, 8, 16)
EXPCTL_VECTORS(long, long, 16, 32)
EXPCTL_VECTORS(ulong, unsigned long, 16, 32)
EXPCTL_VECTORS(longlong, long long, 16, 32)
EXPCTL_VECTORS(ulonglong, unsigned long long, 16, 32)
EXPCTL_VECTORS(float, float, 8, 16)
EXPCTL_VECTORS(double, double, 16, 32)
#undef EXPCTL_VECTORS
#undef EXPCTL_VECTOR
#undef EXPCTL_LIST
typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;

// Elementwise arithmetic, as HIP has it. A kernel's own operator for one of the types is no template and wins.
template <class V, class T = typename V::value_type, int N = sizeof(V) / sizeof(T), class = decltype(V::at)>
struct expctl_elements { static constexpr int count = N; typedef T type; };
#define EXPCTL_VECTOR_FUNCTION template <class V, int N = expctl_elements<V>::count> __host__ __device__ static inline

#define EXPCTL_OPERATOR(op) \
    EXPCTL_VECTOR_FUNCTION V operator op(const V &a, const V &b) { \
        V c; \
        for (int i = 0; i < N; ++i) c.at[i] = a.at[i] op b.at[i]; \
        return c; \
    } \
    EXPCTL_VECTOR_FUNCTION V operator op(const V &a, typename expctl_elements<V>::type b) { \
        V c; \
        for (int i = 0; i < N; ++i) c.at[i] = a.at[i] op b; \
        return c; \
    } \
    EXPCTL_VECTOR_FUNCTION V operator op(typename expctl_elements<V>::type a, const V &b) { \
        V c; \
        for (int i = 0; i < N; ++i) c.at[i] = a op b.at[i]; \
        return c; \
    } \
    EXPCTL_VECTOR_FUNCTION V &operator op##=(V &a, const V &b) { return a = a op b; } \
    EXPCTL_VECTOR_FUNCTION V &operator op##=(V &a, typename expctl_elements<V>::type b) { return a = a op b; }
EXPCTL_OPERATOR(+)
EXPCTL_OPERATOR(-)
EXPCTL_OPERATOR(*)
EXPCTL_OPERATOR(/)
EXPCTL_OPERATOR(%)
EXPCTL_OPERATOR(&)
EXPCTL_OPERATOR(|)
EXPCTL_OPERATOR(^)
EXPCTL_OPERATOR(<<)
EXPCTL_OPERATOR(>>)
#undef EXPCTL_OPERATOR
EXPCTL_VECTOR_FUNCTION V operator-(const V &a) {
    V c;
    for (int i = 0; i < N; ++i) c.at[i] = -a.at[i];
    return c;
}
EXPCTL_VECTOR_FUNCTION bool operator==(const V &a, const V &b) {
    bool same = true;
    for (int i = 0; i < N; ++i) same = same && a.at[i] == b.at[i];
    return same;
}
EXPCTL_VECTOR_FUNCTION bool operator!=(const V &a, const V &b) { return !(a == b); }
#undef EXPCTL_VECTOR_FUNCTION
