// The shared memory of one workgroup on sm_90: one chunk of A (fp16) and B (fp8 bytes, upcast only on the way to the matrix
// instruction), as two slices of slice_k.
//
//   slice s   a[plane][row]        plane = 8 neighbouring k, row 0 .. block_m - 1, then padding
//             b[k16][group][lane]  what a lane needs of 16 columns x 16 k, as packing.h has it
//
// Banks: a 16-byte access is served 8 lanes (128 bytes, all 32 banks) at a time. Fragment loads read 8 neighbouring rows of a
// plane, or the 8 bytes of neighbouring lanes: contiguous. Stores of A go to all planes of 1 or 2 rows: the padding turns
// consecutive planes by 8 / planes pieces so that these do not meet in one bank.
#pragma once
#include "../config.h"
#include "../piece.h"

namespace scaled_mm {

struct alignas(8) LaneBytes {
  u32 word[2];   // k 0..7 and 8..15, each: column l / 4 twice, column l / 4 + 8 twice
};

template <class C>
struct Slices {
  static constexpr int planes = C::slice_k / kHalvesPerPiece;
  static constexpr int padding = kSlices * planes >= 8 ? 1 : 8 / (kSlices * planes);
  static constexpr int rows_b = C::slice_k / kFragment;

  struct Slice {
    Piece a[planes][C::block_m + padding];
    LaneBytes b[rows_b][C::block_n / kFragment][kWaveLanes];
  } slice[kSlices];

  METHOD void put_a(int row, int k8, const Piece &halves) { slice[k8 / planes].a[k8 % planes][row] = halves; }

  // 32 k of one lane.
  METHOD void put_b(int group, int k32, int lane, const Piece &bytes) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int k16 = 2 * k32 + i;
      slice[k16 / rows_b].b[k16 % rows_b][group][lane] = {{bytes.word[2 * i], bytes.word[2 * i + 1]}};
    }
  }
};

// Where the fragments of a wave lie in a slice: their first rows and columns. (The loads add the lane: fragment.h.)
template <class C>
struct View {
  using Slice = typename Slices<C>::Slice;
  int first_m, first_n;

  METHOD explicit View(int wave) : first_m(wave / C::warps_n * C::wave_m), first_n(wave % C::warps_n * C::wave_n) {}

  METHOD const Piece *a(const Slice &slice, int plane, int i) const { return &slice.a[plane][first_m + i * kFragment]; }
  METHOD const LaneBytes *b(const Slice &slice, int k16, int j) const { return slice.b[k16][first_n / kFragment + j]; }
};

}  // namespace scaled_mm
