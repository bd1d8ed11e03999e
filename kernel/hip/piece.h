// A piece: the 16 bytes that every copy moves at once.
#pragma once
#include "phases.h"

namespace scaled_mm {

struct alignas(16) Piece {
  u32 word[4];
};

DEVICE Piece zero_piece() { return {{0u, 0u, 0u, 0u}}; }

// `base` is the same for a whole workgroup and `offset` (bytes) is the lane's own: kept apart, the address costs gfx11 no
// vector instruction (base in SGPRs, offset in one VGPR).
DEVICE Piece load_piece(const void *base, u32 offset) {
#if ON_CPU
  Piece piece;   // memcpy: A rows have no alignment to rely on
  __builtin_memcpy(&piece, static_cast<const char *>(base) + offset, sizeof(piece));
  return piece;
#elif ON_GFX11
  // Said to be global, because keep_in_sgprs hides that as well, and a generic address would cost a flat load.
  typedef u32 Words4 __attribute__((ext_vector_type(4)));
  const auto *bytes = (const __attribute__((address_space(1))) char *)base;
  const Words4 words = *(const __attribute__((address_space(1))) Words4 *)(bytes + offset);
  return {{words.x, words.y, words.z, words.w}};
#else
  return *reinterpret_cast<const Piece *>(static_cast<const char *>(base) + offset);
#endif
}

// One half, addressed alike.
DEVICE u32 load_half(const void *base, u32 offset) {
  return *reinterpret_cast<const u16 *>(static_cast<const char *>(base) + offset);
}

#if ON_GFX11
// Hides from the compiler where a value comes from: no instructions, but it has to keep the value as it is. In a loop it would
// otherwise rather keep what it can derive from it beforehand: base + offset in two VGPRs for each load, which take two vector
// instructions to advance, and an LDS offset anew for each array.
DEVICE void keep_in_sgprs(const void *&base) { asm("" : "+s"(base)); }
DEVICE void keep_in_vgpr(u32 &offset) { asm volatile("" : "+v"(offset)); }   // volatile: not to be moved out of the loop

// thread_index() for values that nobody else shall share: what the loop and the code after it have in common would be computed
// once, and be kept in VGPRs throughout the loop.
DEVICE int private_thread_index() {
  u32 thread = static_cast<u32>(thread_index());
  keep_in_vgpr(thread);
  return static_cast<int>(thread);
}
#endif

}  // namespace scaled_mm
