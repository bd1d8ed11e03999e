// LDS and accumulators of one workgroup on a CPU: plain arrays on the stack of the calling thread.
//
//   slice s   a[row][k]      fp32: halves widened on the way in, one row of a fragment is read one k at a time
//             b[k][column]   fp8 bytes, transposed on the way in: 16 columns of one k are one 16-byte load
#pragma once
#include "config.h"
#include "stage.h"
#include "vector_cpu.h"

namespace scaled_mm {

template <class C>
struct Slices {
  struct Slice {
    alignas(64) float a[C::block_m][C::slice_k];
    alignas(64) u8 b[C::slice_k][C::block_n];
  } slice[kSlices];

  METHOD void put_a(int row, int k8, const Piece &halves) {
    const int k = k8 * kHalvesPerPiece;
    widen8(halves, &slice[k / C::slice_k].a[row][k % C::slice_k]);
  }

  METHOD void put_b(int column, int k16, const Piece (&bytes)[kLanesPerCall]) {
    const int k = k16 * kFragment;
    transpose(bytes, &slice[k / C::slice_k].b[k % C::slice_k][column], C::block_n);
  }
};

using Sums = float[kFragment][kFragment];

// sums[j] += a (16 x kDepth) x b[j] (kDepth x 16): the CPU's v_wmma, kDepth / 16 of them in a row, for kColumns fragments side by
// side: a value of A that is read feeds all of them. Shared by all configs, so that a build holds few of it and not fourteen.
template <int kDepth, int kColumns>
__attribute__((noinline)) void multiply_fragments(Sums *sums, int stride, const float (*a)[kDepth],
                                                  const float (*b)[kDepth][kFragment]) {
  constexpr int kRows = kTileRows / kColumns;
  for (int first = 0; first < kFragment; first += kRows) {
    Floats16 rows[kRows][kColumns];   // in registers over the whole depth
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int j = 0; j < kColumns; ++j) rows[i][j] = load16(sums[j * stride][first + i]);
#pragma unroll 4
    for (int k = 0; k < kDepth; ++k) {
      Floats16 columns[kColumns];
#pragma unroll
      for (int j = 0; j < kColumns; ++j) columns[j] = load16(b[j][k]);
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int j = 0; j < kColumns; ++j) rows[i][j] = multiply_add16(a[first + i][k], columns[j], rows[i][j]);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int j = 0; j < kColumns; ++j) store16(sums[j * stride][first + i], rows[i][j]);
  }
}

template <class C, Fp8 kFormat>
struct WaveTile {
  alignas(64) Sums sums[C::repeat_n][C::repeat_m];   // as they are multiplied: all rows of 16 columns, one after the other

  METHOD void clear_all() { memset(sums, 0, sizeof(sums)); }

  // Adds slice_k of the product. The upcast of B happens here, once per fragment and wave, and feeds repeat_m products.
  METHOD void multiply(const typename Slices<C>::Slice &slice, int wave) {
    const int first_m = wave / C::warps_n * C::wave_m, first_n = wave % C::warps_n * C::wave_n;
    constexpr int kColumns = C::repeat_n % kTileColumns == 0 ? kTileColumns : 1;
    alignas(64) float b[kColumns][C::slice_k][kFragment];
    for (int first = 0; first < C::repeat_n; first += kColumns) {
      for (int j = 0; j < kColumns; ++j)
        for (int k = 0; k < C::slice_k; ++k) store16(b[j][k], upcast16<kFormat>(&slice.b[k][first_n + (first + j) * kFragment]));
      for (int i = 0; i < C::repeat_m; ++i)
        multiply_fragments<C::slice_k, kColumns>(&sums[first][i], C::repeat_m, &slice.a[first_m + i * kFragment], b);
    }
  }

  METHOD void write(const Problem &problem, const Corner &corner, int wave) const {
    const int first_m = wave / C::warps_n * C::wave_m, first_n = wave % C::warps_n * C::wave_n;
    for (int j = 0; j < C::repeat_n; ++j) {
      const int n = first_n + j * kFragment, columns = at_most(kFragment, corner.last_n + 1 - n);
      if (columns <= 0) return;
      float bias[kFragment] = {};
      if (problem.bias)
        for (int column = 0; column < columns; ++column) bias[column] = half_to_float(problem.bias[corner.n + n + column]);
      u16 *const c = problem.c + static_cast<i64>(corner.m) * problem.n + corner.n + n;
      for (int row = 0; row < C::wave_m && first_m + row <= corner.last_m; ++row) {
        const Floats16 sum = load16(sums[j][row / kFragment][row % kFragment]);
        u16 halves[kFragment];
        narrow16(multiply_add16(problem.scale, sum, load16(bias)), halves);
        memcpy(c + static_cast<i64>(first_m + row) * problem.n, halves, static_cast<u32>(columns) * sizeof(u16));
      }
    }
  }
};

}  // namespace scaled_mm
