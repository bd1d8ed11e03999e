// The shared memory of one workgroup on sm_90: one chunk of A (fp16) and B (fp8 bytes, upcast only on the way to the matrix
// instruction), as two slices of slice_k.
//
//   slice s   a[plane][row]   plane = 8 neighbouring k, row 0 .. block_m - 1, then padding
//             b[k16][column]  16 fp8 of one column
//
// Banks: a 16-byte access is served 8 lanes (128 bytes, all 32 banks) at a time. Fragment loads read 8 neighbouring rows of a
// plane, or 8 neighbouring columns: contiguous. Stores of A go to all planes of 1 or 2 rows: the padding turns consecutive
// planes by 8 / planes pieces so that these do not meet in one bank.
#pragma once
#include "../config.h"
#include "../piece.h"

namespace scaled_mm {

template <class C>
struct Slices {
  static constexpr int planes = C::slice_k / kHalvesPerPiece;
  static constexpr int padding = kSlices * planes >= 8 ? 1 : 8 / (kSlices * planes);

  struct Slice {
    Piece a[planes][C::block_m + padding];
    Piece b[C::slice_k / kFragment][C::block_n];
  } slice[kSlices];

  METHOD void put_a(int row, int k8, const Piece &halves) {
    Slice &s = slice[k8 / planes];
    const int plane = k8 % planes;
    // ldmatrix hands lane q the k = 2q, 2q + 1 of a plane, but the four neighbouring bytes 4q .. 4q + 3 of B. The product does
    // not mind in which order k runs, so the halves of A take B's order: of 16 k, plane 0 keeps the pairs 0, 2, 4, 6 and
    // plane 1 the pairs 1, 3, 5, 7.
    const int even = plane & ~1, half = (plane & 1) * 2;
    s.a[even][row].word[half] = halves.word[0];
    s.a[even][row].word[half + 1] = halves.word[2];
    s.a[even + 1][row].word[half] = halves.word[1];
    s.a[even + 1][row].word[half + 1] = halves.word[3];
  }

  METHOD void put_b(int column, int k16, const Piece (&bytes)[kLanesPerCall]) {
    constexpr int rows = C::slice_k / kFragment;
    slice[k16 / rows].b[k16 % rows][column] = bytes[0];
  }
};

// Where the fragments of a wave lie in a slice: their first rows and columns. (ldmatrix adds the lane: fragment.h.)
template <class C>
struct View {
  using Slice = typename Slices<C>::Slice;
  int first_m, first_n;

  METHOD explicit View(int wave) : first_m(wave / C::warps_n * C::wave_m), first_n(wave % C::warps_n * C::wave_n) {}

  METHOD const Piece *a(const Slice &slice, int plane, int i) const { return &slice.a[plane][first_m + i * kFragment]; }
  METHOD const Piece *b(const Slice &slice, int k16, int j) const { return &slice.b[k16][first_n + j * kFragment]; }
};

}  // namespace scaled_mm
