// Dot products of packed integers, and products of 16 x 16 matrices that a wave holds together: lane l < 16 has row l of A and
// column l of B (lanes 16 to 31 have copies), lane l has the elements of column l % 16 of C in the rows 2 i + l / 16, i < 8.
#pragma once

namespace expctl_host {

typedef _Float16 Half2 __attribute__((ext_vector_type(2)));
typedef _Float16 Half16 __attribute__((ext_vector_type(16)));
typedef short Short16 __attribute__((ext_vector_type(16)));
typedef float Float8 __attribute__((ext_vector_type(8)));
typedef int Int2 __attribute__((ext_vector_type(2)));
typedef int Int4 __attribute__((ext_vector_type(4)));
typedef int Int8 __attribute__((ext_vector_type(8)));

// Number `at` of the packed integers of `bits` bits that begin with the lowest ones of words[0].
HOST_INLINE int unpacked(const int *words, int at, int bits, bool is_signed) {
    const int shift = at * bits % 32, word = words[at * bits / 32];
    const int left = 32 - bits - shift;
    return is_signed ? int(unsigned(word) << left) >> (32 - bits) : int(unsigned(word) << left >> (32 - bits));
}

HOST_INLINE int fitted(long long sum, bool clamp) {
    const long long least = INT32_MIN, most = INT32_MAX;
    return int(clamp ? std::min(std::max(sum, least), most) : sum);
}

HOST_INLINE long long packed_dot(const int *a, bool a_signed, const int *b, bool b_signed, int count, int bits) {
    long long sum = 0;
    for (int i = 0; i < count; ++i) sum += (long long)unpacked(a, i, bits, a_signed) * unpacked(b, i, bits, b_signed);
    return sum;
}

template <int WORDS> struct Packed {
    int a[WORDS], b[WORDS];
};

template <int BITS, class V> HOST_INLINE Int8 integer_product(bool a_signed, V a, bool b_signed, V b, Int8 c, bool clamp) {
    Packed<BITS / 2> mine;
    for (int i = 0; i < BITS / 2; ++i) mine.a[i] = a[i], mine.b[i] = b[i];
    const auto all = gathered(mine);
    for (int i = 0; i < 8; ++i) {
        const auto &row = all.value[2 * i + lane() / 16], &column = all.value[lane() % 16];
        c[i] = fitted(c[i] + packed_dot(row.a, a_signed, column.b, b_signed, 16, BITS), clamp);
    }
    return c;
}

struct Factors {
    float a[16], b[16];
};

// The products and their sum are those of double precision; one rounding at the end.
HOST_INLINE Float8 product(const Factors &mine, Float8 c) {
    HOST_NOTE("wmma")
    const auto all = gathered(mine);
    for (int i = 0; i < 8; ++i) {
        const auto &row = all.value[2 * i + lane() / 16], &column = all.value[lane() % 16];
        double sum = c[i];
        for (int k = 0; k < 16; ++k) sum += double(row.a[k]) * column.b[k];
        c[i] = float(sum);
    }
    return c;
}

}  // namespace expctl_host

HOST_INLINE expctl_host::Float8
__builtin_amdgcn_wmma_f32_16x16x16_f16_w32(expctl_host::Half16 a, expctl_host::Half16 b, expctl_host::Float8 c) {
    expctl_host::Factors mine;
    for (int k = 0; k < 16; ++k) mine.a[k] = float(a[k]), mine.b[k] = float(b[k]);
    return expctl_host::product(mine, c);
}
HOST_INLINE expctl_host::Float8
__builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(expctl_host::Short16 a, expctl_host::Short16 b, expctl_host::Float8 c) {
    expctl_host::Factors mine;
    for (int k = 0; k < 16; ++k) {
        mine.a[k] = __builtin_bit_cast(float, unsigned((unsigned short)a[k]) << 16);
        mine.b[k] = __builtin_bit_cast(float, unsigned((unsigned short)b[k]) << 16);
    }
    return expctl_host::product(mine, c);
}
HOST_INLINE expctl_host::Int8 __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(
    bool a_signed, expctl_host::Int4 a, bool b_signed, expctl_host::Int4 b, expctl_host::Int8 c, bool clamp) {
    return expctl_host::integer_product<8>(a_signed, a, b_signed, b, c, clamp);
}
HOST_INLINE expctl_host::Int8 __builtin_amdgcn_wmma_i32_16x16x16_iu4_w32(
    bool a_signed, expctl_host::Int2 a, bool b_signed, expctl_host::Int2 b, expctl_host::Int8 c, bool clamp) {
    return expctl_host::integer_product<4>(a_signed, a, b_signed, b, c, clamp);
}

HOST_INLINE int __builtin_amdgcn_sudot4(bool a_signed, int a, bool b_signed, int b, int c, bool clamp) {
    return expctl_host::fitted(c + expctl_host::packed_dot(&a, a_signed, &b, b_signed, 4, 8), clamp);
}
HOST_INLINE int __builtin_amdgcn_sudot8(bool a_signed, int a, bool b_signed, int b, int c, bool clamp) {
    return expctl_host::fitted(c + expctl_host::packed_dot(&a, a_signed, &b, b_signed, 8, 4), clamp);
}
HOST_INLINE unsigned __builtin_amdgcn_udot4(unsigned a, unsigned b, unsigned c, bool clamp) {
    const int x = a, y = b;
    const unsigned long long sum = c + (unsigned long long)expctl_host::packed_dot(&x, false, &y, false, 4, 8);
    return clamp && sum > UINT32_MAX ? UINT32_MAX : unsigned(sum);
}
HOST_INLINE float __builtin_amdgcn_fdot2(expctl_host::Half2 a, expctl_host::Half2 b, float c, bool clamp) {
    HOST_NOTE("fdot2")
    const float sum = float(double(a.x) * double(b.x) + double(a.y) * double(b.y) + c);
    return clamp ? __saturatef(sum) : sum;
}
