// The two fp8 formats and their upcast on a GPU, four bytes at a time. (vector_cpu.h has the forms for CPUs.)
//
//   e5m2    s eeeee mm   the high byte of an fp16: upcasting is moving bytes, exact for every code
//   e4m3fn  s eeee mmm   bias 7, no infinity, s.1111.111 is NaN: needs arithmetic
#pragma once
#include "phases.h"

namespace scaled_mm {

enum Fp8 : int { kE4m3fn = 0, kE5m2 = 1 };   // the b_dtype of the interface

#if !ON_CPU

// Bytes 2 pair and 2 pair + 1 of `bytes` become the high bytes of two halves; the low bytes are zero.
DEVICE u32 bytes_to_high_bytes(u32 bytes, int pair) {
#if ON_GFX11
  // v_perm_b32 picks four bytes, written high to low: 0x0c is a zero, 4..7 are bytes 0..3 of the first operand.
  return __builtin_amdgcn_perm(bytes, 0u, pair ? 0x070c060cu : 0x050c040cu);
#else
  // prmt picks four bytes, written high to low: 0..3 are bytes of the first operand, 4 is a byte of the zero.
  return __byte_perm(bytes, 0u, pair ? 0x3424 : 0x1404);
#endif
}

// Two halves times 256.
DEVICE u32 times_256(u32 halves) {
#if ON_GFX11
  typedef _Float16 Half2 __attribute__((ext_vector_type(2)));
  return __builtin_bit_cast(u32, __builtin_bit_cast(Half2, halves) * static_cast<_Float16>(256.0f));
#else
  u32 product;
  asm("mul.f16x2 %0, %1, %2;" : "=r"(product) : "r"(halves), "r"(0x5c005c00u));   // 0x5c00 = 256 in fp16
  return product;
#endif
}

template <Fp8 kFormat>
DEVICE u32 upcast_pair(u32 bytes, int pair) {
  const u32 high = bytes_to_high_bytes(bytes, pair);
  if constexpr (kFormat == kE5m2) return high;
  // Per half: s eeee mmm 0000 0000 -> s 0 eeee mmm 000 0000. Read as fp16 this is the value / 2^8 (bias 15 instead of 7),
  // denormals included, so that one multiplication finishes it.
  const u32 magnitude = (high & 0x7f007f00u) >> 1;
  const u32 value = times_256((high & 0x80008000u) | magnitude);
  // Only the NaN code, magnitude 0x3f80, carries into bit 14 when 0x80 is added. 2 carry - carry / 32 = 0x7e00, a quiet NaN.
  const u32 carry = (magnitude + 0x00800080u) & 0x40004000u;
  return value | ((carry << 1) - (carry >> 5));
}

#endif

}  // namespace scaled_mm
