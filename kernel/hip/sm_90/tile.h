// One block computes one tile of C with mma.sync, chunk by chunk of K; B comes in the order of packing.h.
#pragma once
#include "../stage.h"
#include "../wave_tile_gpu.h"
#include "packing.h"

namespace scaled_mm {

// The share of B that a thread copies: piece p of a chunk is lane p % 32 of one group of 16 columns and 32 k.
template <class C>
struct ShareB {
  static constexpr int per_step = C::block_n / kFragment * kWaveLanes;
  static_assert(C::chunk_k % 32 == 0 && kPackedExtent % C::chunk_k == 0, "a chunk is whole steps of 32 k within the padding");
  METHOD static int step(int piece) { return piece / per_step; }
  METHOD static int group(int piece) { return piece % per_step / kWaveLanes; }
  METHOD static int lane(int piece) { return piece % kWaveLanes; }
};

// The padding of B makes every chunk whole. Groups beyond it are the last one again: their columns are not stored.
template <class C>
DEVICE void load_b_pieces(Stage<C> &stage, int thread, const Problem &problem, const Corner &corner, int first_k) {
  using S = ShareB<C>;
  const Packing packing{problem.n, problem.k};
  const int last_group = static_cast<int>(Packing::padded(problem.n)) / kFragment - 1;
#pragma unroll
  for (int turn = 0; turn < C::b_turns; ++turn) {
    const int piece = turn * C::threads + thread;
    const int group = at_most(corner.n / kFragment + S::group(piece), last_group);
    stage.b[turn][0] = load_piece(problem.b + packing.place(group, first_k / 32 + S::step(piece)), S::lane(piece) * 16u);
  }
}

template <class C>
DEVICE void store_b_pieces(const Stage<C> &stage, int thread, Slices<C> &slices) {
  using S = ShareB<C>;
#pragma unroll
  for (int turn = 0; turn < C::b_turns; ++turn) {
    const int piece = turn * C::threads + thread;
    slices.put_b(S::group(piece), S::step(piece), S::lane(piece), stage.b[turn][0]);
  }
}

// The chunk lies wholly inside K and the rows of A are aligned: nothing to check.
template <class C>
DEVICE void load_whole_chunk(Stage<C> &stage, int thread, const Problem &problem, const Corner &corner, int first_k) {
  using S = Share<C>;
  const void *a = problem.a + static_cast<i64>(corner.m) * problem.k + first_k;
#pragma unroll
  for (int turn = 0; turn < C::a_turns; ++turn) {
    const int piece = S::piece(turn, thread, 0);
    const u32 row = static_cast<u32>(at_most(S::a_row(piece), corner.last_m));
    stage.a[turn][0] = load_piece(a, row * static_cast<u32>(problem.k) * 2u + S::a_k8(piece) * kPieceBytes);
  }
  load_b_pieces<C>(stage, thread, problem, corner, first_k);
}

template <class C>
DEVICE void store_chunk(const Stage<C> &stage, int thread, Slices<C> &slices) {
  using S = Share<C>;
#pragma unroll
  for (int turn = 0; turn < C::a_turns; ++turn) {
    const int piece = S::piece(turn, thread, 0);
    slices.put_a(S::a_row(piece), S::a_k8(piece), stage.a[turn][0]);
  }
  store_b_pieces<C>(stage, thread, slices);
}

// A reaches beyond K, or its rows are not aligned to a piece: one half at a time, zero from K on.
template <class C>
DEVICE void fill_edge_chunk(int thread, const Problem &problem, const Corner &corner, int first_k, Slices<C> &slices) {
  using S = Share<C>;
  const u16 *a = problem.a + static_cast<i64>(corner.m) * problem.k;
#pragma unroll 1
  for (int turn = 0; turn < C::a_turns; ++turn) {
    const int piece = S::piece(turn, thread, 0);
    const u32 row = static_cast<u32>(at_most(S::a_row(piece), corner.last_m)) * static_cast<u32>(problem.k);
    const int k = first_k + S::a_k8(piece) * kHalvesPerPiece;
    Piece halves = zero_piece();
#pragma unroll
    for (int i = 0; i < kHalvesPerPiece; ++i)   // loaded always and masked: a branch per half would cost more than the load
      halves.word[i / 2] |= (load_half(a, (row + static_cast<u32>(at_most(k + i, problem.k - 1))) * 2u) &
                             (k + i < problem.k ? 0xffffu : 0u)) << (i % 2 * 16);
    slices.put_a(S::a_row(piece), S::a_k8(piece), halves);
  }
  Stage<C> stage;
  load_b_pieces<C>(stage, thread, problem, corner, first_k);
  store_b_pieces<C>(stage, thread, slices);
}

template <class C, Fp8 kFormat>
DEVICE void compute_tile(const Problem &problem, BlockId block, Slices<C> &slices) {
  const Corner corner(problem, block.m * C::block_m, block.n * C::block_n);
  const int thread = thread_index(), wave = wave_index();
  const bool aligned = problem.k % kHalvesPerPiece == 0 && reinterpret_cast<u64>(problem.a) % kPieceBytes == 0;
  const int whole_k = aligned ? problem.k / C::chunk_k * C::chunk_k : 0;

  WaveTile<C, kFormat> tile;
  tile.clear_all();
  Stage<C> stage;
  if (whole_k > 0) load_whole_chunk<C>(stage, thread, problem, corner, 0);
  for (int k = 0; k < whole_k; k += C::chunk_k) {
    store_chunk<C>(stage, thread, slices);
    BARRIER();   // fill before read
    // Into registers only, so it can run ahead of the readers of shared memory. The last turn loads its own chunk again.
    load_whole_chunk<C>(stage, thread, problem, corner, k + C::chunk_k < whole_k ? k + C::chunk_k : k);
#pragma unroll
    for (int s = 0; s < kSlices; ++s) tile.multiply(slices.slice[s], wave);
    BARRIER();   // read before refill
  }
#pragma unroll 1
  for (int k = whole_k; k < problem.k; k += C::chunk_k) {
    BARRIER();   // read before refill, by the whole chunks or by the last turn of this loop
    fill_edge_chunk<C>(thread, problem, corner, k, slices);
    BARRIER();   // fill before read
#pragma unroll
    for (int s = 0; s < kSlices; ++s) tile.multiply(slices.slice[s], wave);
  }
  tile.write(problem, corner, wave);
}

}  // namespace scaled_mm
