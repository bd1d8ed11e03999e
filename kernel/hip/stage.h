// Copies one chunk of A and B from global memory towards LDS. A thread's share is the same for every chunk:
//
//   A  piece p = turn * threads + thread:  row p / (chunk_k / 8), halves 8 (p % (chunk_k / 8)) ...   neighbours share a row
//   B  piece p:                            column p % block_n, 16 k of slice-row p / block_n        neighbours are contiguous
//
// Rows and columns beyond the matrix read its last row or column again: always inside the buffer, never stored.
#pragma once
#include "config.h"
#include "piece.h"
#include "problem.h"

namespace scaled_mm {

template <class C>
struct Stage {
  Piece a[C::a_turns][kLanesPerCall];
  Piece b[C::b_turns][kLanesPerCall];
};

// Where the tile of one workgroup starts, and how far it may look.
struct Corner {
  int m, n;             // first row of A, first column of B
  int last_m, last_n;   // of the matrix, counted from here

  METHOD Corner(const Problem &problem, int first_m, int first_n)
      : m(first_m), n(first_n), last_m(problem.m - 1 - first_m), last_n(problem.n - 1 - first_n) {}
};

DEVICE int at_most(int value, int limit) { return value < limit ? value : limit; }

template <class C>
struct Share {   // which pieces of a chunk a lane copies
  static constexpr int a_per_row = C::chunk_k / kHalvesPerPiece;
  METHOD static int piece(int turn, int thread, int lane) { return turn * C::threads + thread + lane; }
  METHOD static int a_row(int piece) { return piece / a_per_row; }
  METHOD static int a_k8(int piece) { return piece % a_per_row; }
  METHOD static int b_column(int piece) { return piece % C::block_n; }
  METHOD static int b_k16(int piece) { return piece / C::block_n; }
};

// The chunk lies wholly inside K and its pieces are aligned: nothing to check.
template <class C>
DEVICE void load_whole(Stage<C> &stage, int thread, const Problem &problem, const Corner &corner, int first_k) {
  using S = Share<C>;
  const void *a = problem.a + static_cast<i64>(corner.m) * problem.k + first_k;
  const void *b = problem.b + (static_cast<i64>(first_k / kFragment) * problem.n + corner.n) * kPieceBytes;
  UNROLL_ON_GPU
  for (int turn = 0; turn < C::a_turns; ++turn)
#pragma unroll
    for (int lane = 0; lane < kLanesPerCall; ++lane) {
      const int piece = S::piece(turn, thread, lane);
      const u32 row = static_cast<u32>(at_most(S::a_row(piece), corner.last_m));
      stage.a[turn][lane] = load_piece(a, row * static_cast<u32>(problem.k) * 2u + S::a_k8(piece) * kPieceBytes);
    }
  UNROLL_ON_GPU
  for (int turn = 0; turn < C::b_turns; ++turn)
#pragma unroll
    for (int lane = 0; lane < kLanesPerCall; ++lane) {
      const int piece = S::piece(turn, thread, lane);
      const u32 column = static_cast<u32>(at_most(S::b_column(piece), corner.last_n));
      stage.b[turn][lane] = load_piece(b, (S::b_k16(piece) * static_cast<u32>(problem.n) + column) * kPieceBytes);
    }
}

// Into LDS. Slices is the machine's own: slices_gfx11.h, sm_90/slices.h, wave_tile_cpu.h.
template <class C, class Slices>
DEVICE void store(const Stage<C> &stage, int thread, Slices &slices) {
  using S = Share<C>;
  UNROLL_ON_GPU
  for (int turn = 0; turn < C::a_turns; ++turn)
#pragma unroll
    for (int lane = 0; lane < kLanesPerCall; ++lane) {
      const int piece = S::piece(turn, thread, lane);
      slices.put_a(S::a_row(piece), S::a_k8(piece), stage.a[turn][lane]);
    }
  UNROLL_ON_GPU
  for (int turn = 0; turn < C::b_turns; ++turn) {
    const int piece = S::piece(turn, thread, 0);
    slices.put_b(S::b_column(piece), S::b_k16(piece), stage.b[turn]);   // kLanesPerCall columns at once
  }
}

// The chunk reaches beyond K, or A's rows are not aligned to a piece: one half at a time, zero from K on. B is padded to a
// whole piece by the prepack, so it needs a check only for pieces that do not exist at all. Rare, so it goes straight to LDS,
// one piece after the other: staging would cost the hot loop registers.
template <class C, class Slices>
DEVICE void fill_edge(int thread, const Problem &problem, const Corner &corner, int first_k, Slices &slices) {
  using S = Share<C>;
  const u16 *a = problem.a + static_cast<i64>(corner.m) * problem.k;
#pragma unroll 1
  for (int turn = 0; turn < C::a_turns; ++turn)
#pragma unroll 1
    for (int lane = 0; lane < kLanesPerCall; ++lane) {
      const int piece = S::piece(turn, thread, lane);
      const u32 row = static_cast<u32>(at_most(S::a_row(piece), corner.last_m)) * static_cast<u32>(problem.k);
      const int k = first_k + S::a_k8(piece) * kHalvesPerPiece;
      Piece halves = zero_piece();
#pragma unroll
      for (int i = 0; i < kHalvesPerPiece; ++i)   // loaded always and masked: a branch per half would cost more than the load
        halves.word[i / 2] |= (load_half(a, (row + static_cast<u32>(at_most(k + i, problem.k - 1))) * 2u) &
                               (k + i < problem.k ? 0xffffu : 0u)) << (i % 2 * 16);
      slices.put_a(S::a_row(piece), S::a_k8(piece), halves);
    }
  const int b_rows = (problem.k + kFragment - 1) / kFragment;
#pragma unroll 1
  for (int turn = 0; turn < C::b_turns; ++turn) {
    const int first = S::piece(turn, thread, 0);
    const int k16 = first_k / kFragment + S::b_k16(first);
    Piece bytes[kLanesPerCall];
#pragma unroll
    for (int lane = 0; lane < kLanesPerCall; ++lane) {
      const u8 *row = problem.b + static_cast<i64>(k16) * problem.n * kPieceBytes;
      const int column = corner.n + at_most(S::b_column(first + lane), corner.last_n);
      bytes[lane] = k16 < b_rows ? load_piece(row, static_cast<u32>(column) * kPieceBytes) : zero_piece();
    }
    slices.put_b(S::b_column(first), S::b_k16(first), bytes);
  }
}

}  // namespace scaled_mm
