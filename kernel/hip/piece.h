// A piece: the 16 bytes that every copy moves at once.
#pragma once
#include "phases.h"

namespace scaled_mm {

struct alignas(16) Piece {
  u32 word[4];
};

DEVICE Piece zero_piece() { return {{0u, 0u, 0u, 0u}}; }

// The compiler would rather add the lane's offset to the base once, before the loop, and then advance that sum by two vector
// instructions per load. Hiding where the base comes from keeps it in SGPRs, where advancing it is scalar work.
DEVICE const void *keep_uniform(const void *base) {
#if ON_GFX11
  asm("" : "+s"(base));
#endif
  return base;
}

// `base` is the same for a whole workgroup and `offset` (bytes) is the lane's own: kept apart, the address costs gfx11 no
// vector instruction (base in SGPRs, offset in one VGPR).
DEVICE Piece load_piece(const void *base, u32 offset) {
#if ON_CPU
  Piece piece;   // memcpy: A rows have no alignment to rely on
  __builtin_memcpy(&piece, static_cast<const char *>(base) + offset, sizeof(piece));
  return piece;
#elif ON_GFX11
  // Said to be global, because keep_uniform hides that as well, and a generic address would cost a flat load.
  asm volatile("" : "+v"(offset));   // widened here and not before the loop: only then can the load take base and offset apart
  typedef u32 Words4 __attribute__((ext_vector_type(4)));
  const auto *bytes = (const __attribute__((address_space(1))) char *)base;
  const Words4 words = *(const __attribute__((address_space(1))) Words4 *)(bytes + offset);
  return {{words.x, words.y, words.z, words.w}};
#else
  return *reinterpret_cast<const Piece *>(static_cast<const char *>(base) + offset);
#endif
}

}  // namespace scaled_mm
