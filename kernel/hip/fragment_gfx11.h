// Fragments of v_wmma_f32_16x16x16_f16 in wave32. Lanes 16..31 repeat lanes 0..15 of both inputs:
//
//   A  lane l holds row l % 16, k = 0 .. 15        B  lane l holds column l % 16, k = 0 .. 15
//   C  value s of lane l is row 2 s + l / 16, column l % 16
#pragma once
#include "fp8.h"
#include "piece.h"

namespace scaled_mm {

typedef u32 Words4 __attribute__((ext_vector_type(4)));
typedef u32 Words8 __attribute__((ext_vector_type(8)));
typedef _Float16 Halves16 __attribute__((ext_vector_type(16)));
typedef float Floats8 __attribute__((ext_vector_type(8)));

constexpr int kSumsPerLane = 8;
struct FragmentA { Halves16 halves; };
struct FragmentB { Halves16 halves; };
struct FragmentC { Floats8 value; };

DEVICE int lane_index() { return thread_index() % 32; }

DEVICE void clear(FragmentC &c) { c.value = Floats8(0.0f); }

// The lane's own pieces, k = 0 .. 7 and 8 .. 15.
DEVICE FragmentA load_a(const Piece *low, const Piece *high) {
  const Words4 p = *reinterpret_cast<const Words4 *>(low), q = *reinterpret_cast<const Words4 *>(high);
  const Words8 words = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
  return {__builtin_bit_cast(Halves16, words)};
}

template <Fp8 kFormat>
DEVICE FragmentB load_b(const Piece *column) {
  const Words4 p = *reinterpret_cast<const Words4 *>(column);   // in one load, whatever becomes of the words
  Words8 words;
#pragma unroll
  for (int i = 0; i < 8; ++i) words[i] = upcast_pair<kFormat>(p[i / 2], i % 2);
  return {__builtin_bit_cast(Halves16, words)};
}

DEVICE void multiply_add(FragmentC &c, const FragmentA &a, const FragmentB &b) {
  c.value = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a.halves, b.halves, c.value);
}

// The compiler may not move instructions across this point.
DEVICE void keep_order() { __builtin_amdgcn_sched_barrier(0); }

DEVICE int sum_row(int s) { return 2 * s + lane_index() / 16; }
DEVICE int sum_column(int) { return lane_index() % 16; }

DEVICE float half_to_float(u16 bits) { return static_cast<float>(__builtin_bit_cast(_Float16, bits)); }
DEVICE u16 float_to_half(float value) { return __builtin_bit_cast(u16, static_cast<_Float16>(value)); }

}  // namespace scaled_mm
