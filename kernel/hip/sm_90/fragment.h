// Fragments of mma.sync m16n8k16 (two of them side by side make 16 columns): A by ldmatrix, B in the order that packing.h gives
// it, in which each lane finds its own 8 bytes of 16 k.
//
//   C  values 0, 1: row l / 4, columns 2q, 2q + 1;  2, 3: row l / 4 + 8;  4..7: the same, 8 columns on   (q = l % 4)
#pragma once
#include <cuda_fp16.h>

#include "../fp8.h"
#include "../piece.h"
#include "slices.h"

namespace scaled_mm {

constexpr int kSumsPerLane = 8;
struct FragmentA { u32 halves[4]; };
struct FragmentB { u32 halves[4]; };   // columns 0..7: [0], [1]; columns 8..15: [2], [3]
struct FragmentC { float value[kSumsPerLane]; };

DEVICE int lane_index() { return thread_index() % 32; }

DEVICE u32 lds_address(const void *pointer) { return static_cast<u32>(__cvta_generic_to_shared(pointer)); }

DEVICE void clear(FragmentC &c) {
#pragma unroll
  for (int i = 0; i < kSumsPerLane; ++i) c.value[i] = 0.0f;
}

// `low` and `high` are the planes of k 0..7 and 8..15, at the fragment's first row.
// Four 8 x 8 matrices: rows 0..7 and 8..15 of the low plane, then of the high one. Lane l gives the address of row l % 8 of
// matrix l / 8. "memory": the compiler must not move the load across the barrier that fills the slice.
DEVICE FragmentA load_a(const Piece *low, const Piece *high) {
  const int lane = lane_index();
  const u32 address = lds_address((lane < 16 ? low : high) + lane % 16);
  FragmentA a;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a.halves[0]), "=r"(a.halves[1]), "=r"(a.halves[2]), "=r"(a.halves[3])
               : "r"(address)
               : "memory");
  return a;
}

// Four transposed 8 x 8 matrices of halves; lane l gives the address of row l % 8 of matrix l / 8.
DEVICE void store_transposed(u32 address, const u32 (&pairs)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(pairs[0]),
               "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
               : "memory");
}

template <Fp8 kFormat>
DEVICE FragmentB load_b(const LaneBytes *lanes) {
  const LaneBytes bytes = lanes[lane_index()];
  return {{upcast_pair<kFormat>(bytes.word[0], 0), upcast_pair<kFormat>(bytes.word[1], 0),
           upcast_pair<kFormat>(bytes.word[0], 1), upcast_pair<kFormat>(bytes.word[1], 1)}};
}

DEVICE void multiply_add_8(float *sums, const u32 *a, const u32 *b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

DEVICE void multiply_add(FragmentC &c, const FragmentA &a, const FragmentB &b) {
  multiply_add_8(c.value, a.halves, b.halves);
  multiply_add_8(c.value + 4, a.halves, b.halves + 2);
}

DEVICE void keep_order() {}   // left to ptxas

DEVICE int sum_row(int s) { return lane_index() / 4 + s / 2 % 2 * 8; }
DEVICE int sum_column(int s) { return lane_index() % 4 * 2 + s / 4 * 8 + s % 2; }

DEVICE float half_to_float(u16 bits) { return __half2float(__ushort_as_half(bits)); }
DEVICE u16 float_to_half(float value) { return __half_as_ushort(__float2half_rn(value)); }

}  // namespace scaled_mm
