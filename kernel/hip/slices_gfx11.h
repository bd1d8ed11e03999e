// The LDS of one workgroup on gfx11: one chunk of A (fp16) and B (fp8 bytes, upcast only on the way to the matrix
// instruction), as two slices of slice_k.
//
//   slice s   a[row][slot]    one plane, 8 neighbouring k, of one row; which plane is in which slot depends on the row
//             b[k16][column]  16 fp8 of one column
//
// With 2 planes (slice_k = 16), rows 0 .. 7, and so on every 8 rows:
//
//   row      0     1     2     3     4     5     6     7
//   slots   0 1   0 1   0 1   0 1   1 0   1 0   1 0   1 0     the plane in each
//   piece   0 1   2 3   4 5   6 7   0 1   2 3   4 5   6 7     modulo 8: its four banks
//
// Banks: a 16-byte access is served 8 lanes (128 bytes, all 32 banks) at a time. A fragment load reads one plane of 8 rows:
// pieces 0 2 4 6 1 3 5 7 for plane 0, no bank twice. Stores of A and B, and loads of B, take 8 consecutive pieces.
#pragma once
#include "config.h"
#include "piece.h"

namespace scaled_mm {

template <class C>
struct Slices {
  static constexpr int planes = C::slice_k / kHalvesPerPiece;
  static constexpr int rows_per_swap = planes < 8 ? 8 / planes : 1;   // 8 consecutive pieces hold so many rows

  struct Slice {
    Piece a[C::block_m][planes];
    Piece b[C::slice_k / kFragment][C::block_n];
  } slice[kSlices];

  static_assert(sizeof(Slice) * kSlices <= 65536, "gfx11 gives one workgroup at most 64 KB of LDS");
  static_assert(C::block_n * C::slice_k / kPieceBytes % kWaveLanes == 0,
                "a wave copies 32 pieces of a slice or none: half a wave would write beyond the slice");
  static_assert((planes & (planes - 1)) == 0, "unroll_k must be a power of two: slots are planes with some bits inverted");

  // Its own inverse. Rows that lie 16 apart agree, which lets the fragments of a wave share one address.
  METHOD static int slot(int row, int plane) { return plane ^ row / rows_per_swap % planes; }

  METHOD void put_a(int row, int k8, const Piece &halves) { slice[k8 / planes].a[row][slot(row, k8 % planes)] = halves; }

  METHOD void put_b(int column, int k16, const Piece (&bytes)[kLanesPerCall]) {
    constexpr int rows = C::slice_k / kFragment;
    slice[k16 / rows].b[k16 % rows][column] = bytes[0];
  }
};

// Where a lane's part of its wave's fragments lies in a slice (see fragment_gfx11.h): bytes from the slice's a or b to the
// first fragment. The others are a constant further, which the load instruction adds.
template <class C>
struct View {
  using Slice = typename Slices<C>::Slice;
  u32 a_offset[Slices<C>::planes], b_offset;

  METHOD explicit View(int wave) {
    const int lane = private_thread_index() % kFragment;
    const int row = wave / C::warps_n * C::wave_m + lane, column = wave % C::warps_n * C::wave_n + lane;
#pragma unroll
    for (int plane = 0; plane < Slices<C>::planes; ++plane) {
      a_offset[plane] = static_cast<u32>(row * Slices<C>::planes + Slices<C>::slot(row, plane)) * kPieceBytes;
      keep_in_vgpr(a_offset[plane]);
    }
    b_offset = static_cast<u32>(column) * kPieceBytes;
    keep_in_vgpr(b_offset);
  }

  // Of fragment i, k = 8 plane ...
  METHOD const Piece *a(const Slice &slice, int plane, int i) const { return at(slice.a[i * kFragment], a_offset[plane]); }
  METHOD const Piece *b(const Slice &slice, int k16, int j) const { return at(&slice.b[k16][j * kFragment], b_offset); }

 private:
  METHOD static const Piece *at(const Piece *first, u32 offset) {
    return reinterpret_cast<const Piece *>(reinterpret_cast<const char *>(first) + offset);
  }
};

}  // namespace scaled_mm
