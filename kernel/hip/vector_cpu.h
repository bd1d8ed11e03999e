// What the CPU build needs of vector instructions: sixteen floats at a time, in one of three widths.
//
//   Floats16     16 floats: one zmm (AVX-512), two ymm (AVX2 with FMA and F16C), or an array
//   upcast16     16 fp8 bytes to floats, exactly          widen8    8 halves of A to floats
//   narrow16     16 floats to halves, nearest even        transpose 16 x 16 bytes
#pragma once
#include "fp8.h"
#include "half_cpu.h"
#include "piece.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define WITH_AVX512 1
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define WITH_AVX2 1
#endif

namespace scaled_mm {

#if WITH_AVX512 || WITH_AVX2
// Sixteen fp8 bytes to sixteen halves. e4m3fn still lacks the factor 2^8 of its smaller bias, which float arithmetic adds.
template <Fp8 kFormat>
DEVICE __m256i upcast16_to_halves(const u8 *bytes) {
  const __m256i wide = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes)));
  if constexpr (kFormat == kE5m2) return _mm256_slli_epi16(wide, 8);
  const __m256i magnitude = _mm256_and_si256(wide, _mm256_set1_epi16(0x7f));
  const __m256i sign = _mm256_slli_epi16(_mm256_andnot_si256(_mm256_set1_epi16(0x7f), wide), 8);
  const __m256i is_nan = _mm256_cmpeq_epi16(magnitude, _mm256_set1_epi16(0x7f));   // s.1111.111 is the only NaN
  const __m256i nan = _mm256_and_si256(is_nan, _mm256_set1_epi16(0x7e00));
  return _mm256_or_si256(_mm256_or_si256(sign, nan), _mm256_slli_epi16(magnitude, 7));
}
#endif

#if WITH_AVX512

struct Floats16 { __m512 all; };
constexpr int kTileRows = 16, kTileColumns = 2;   // 16 of 32 zmm hold sums: 16 rows of a fragment, or 8 of two
DEVICE Floats16 load16(const float *p) { return {_mm512_loadu_ps(p)}; }
DEVICE void store16(float *p, Floats16 v) { _mm512_storeu_ps(p, v.all); }
DEVICE Floats16 multiply_add16(float a, Floats16 b, Floats16 c) {
  return {_mm512_fmadd_ps(_mm512_set1_ps(a), b.all, c.all)};
}
template <Fp8 kFormat>
DEVICE Floats16 upcast16(const u8 *bytes) {
  const __m512 floats = _mm512_cvtph_ps(upcast16_to_halves<kFormat>(bytes));
  return {kFormat == kE5m2 ? floats : _mm512_mul_ps(floats, _mm512_set1_ps(256.0f))};
}
DEVICE void narrow16(Floats16 v, u16 *halves) {
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(halves), _mm512_cvtps_ph(v.all, kNearest));
}

#elif WITH_AVX2

struct Floats16 { __m256 low, high; };
constexpr int kTileRows = 4, kTileColumns = 1;   // 8 of 16 ymm
DEVICE Floats16 load16(const float *p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
DEVICE void store16(float *p, Floats16 v) {
  _mm256_storeu_ps(p, v.low);
  _mm256_storeu_ps(p + 8, v.high);
}
DEVICE Floats16 multiply_add16(float a, Floats16 b, Floats16 c) {
  const __m256 all = _mm256_set1_ps(a);
  return {_mm256_fmadd_ps(all, b.low, c.low), _mm256_fmadd_ps(all, b.high, c.high)};
}
template <Fp8 kFormat>
DEVICE Floats16 upcast16(const u8 *bytes) {
  const __m256i halves = upcast16_to_halves<kFormat>(bytes);
  const __m256 low = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
  const __m256 high = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
  if constexpr (kFormat == kE5m2) return {low, high};
  const __m256 factor = _mm256_set1_ps(256.0f);
  return {_mm256_mul_ps(low, factor), _mm256_mul_ps(high, factor)};
}
DEVICE void narrow16(Floats16 v, u16 *halves) {
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  _mm_storeu_si128(reinterpret_cast<__m128i *>(halves), _mm256_cvtps_ph(v.low, kNearest));
  _mm_storeu_si128(reinterpret_cast<__m128i *>(halves + 8), _mm256_cvtps_ph(v.high, kNearest));
}

#else

struct Floats16 { float each[16]; };
constexpr int kTileRows = 4, kTileColumns = 1;
DEVICE Floats16 load16(const float *p) {
  Floats16 v;
  memcpy(&v, p, sizeof(v));
  return v;
}
DEVICE void store16(float *p, const Floats16 &v) { memcpy(p, &v, sizeof(v)); }
DEVICE Floats16 multiply_add16(float a, const Floats16 &b, const Floats16 &c) {
  Floats16 sum;
  for (int i = 0; i < 16; ++i) sum.each[i] = a * b.each[i] + c.each[i];
  return sum;
}
template <Fp8 kFormat>
DEVICE float upcast(u8 byte) {
  if constexpr (kFormat == kE5m2) return half_to_float(static_cast<u16>(byte << 8));
  const u32 magnitude = byte & 0x7fu;
  const u32 nan = magnitude == 0x7fu ? 0x7e00u : 0u;
  return half_to_float(static_cast<u16>((byte & 0x80u) << 8 | nan | magnitude << 7)) * 256.0f;
}
template <Fp8 kFormat>
DEVICE Floats16 upcast16(const u8 *bytes) {
  Floats16 v;
  for (int i = 0; i < 16; ++i) v.each[i] = upcast<kFormat>(bytes[i]);
  return v;
}
DEVICE void narrow16(const Floats16 &v, u16 *halves) {
  for (int i = 0; i < 16; ++i) halves[i] = float_to_half(v.each[i]);
}

#endif

// Eight halves of A.
DEVICE void widen8(const Piece &halves, float *floats) {
#if WITH_AVX512 || WITH_AVX2
  __m128i bits;
  memcpy(&bits, &halves, sizeof(bits));
  _mm256_storeu_ps(floats, _mm256_cvtph_ps(bits));
#else
  for (int i = 0; i < 8; ++i) floats[i] = half_to_float(static_cast<u16>(halves.word[i / 2] >> (i % 2 * 16)));
#endif
}

// Byte i of pieces[j] becomes byte j of row i; `stride` is the distance of two rows.
DEVICE void transpose(const Piece (&pieces)[16], u8 *rows, int stride) {
#if defined(__SSE2__)
  __m128i x[16], y[16];
  memcpy(x, pieces, sizeof(x));
  // One round interleaves the bytes of rows i and i + 8, which turns the 8-bit index (row, byte) left by one bit. Four rounds
  // exchange its halves.
#pragma unroll
  for (int round = 0; round < 4; ++round) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      y[2 * i] = _mm_unpacklo_epi8(x[i], x[i + 8]);
      y[2 * i + 1] = _mm_unpackhi_epi8(x[i], x[i + 8]);
    }
    memcpy(x, y, sizeof(x));
  }
#pragma unroll
  for (int i = 0; i < 16; ++i) memcpy(rows + i * stride, &x[i], sizeof(x[i]));
#else
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) rows[i * stride + j] = static_cast<u8>(pieces[j].word[i / 4] >> (i % 4 * 8));
#endif
}

}  // namespace scaled_mm
