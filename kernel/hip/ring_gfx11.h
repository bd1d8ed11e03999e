// The whole chunks on gfx11: the two slices of LDS as a ring. While the waves multiply one slice, every thread stores what it
// holds of the next slice into the other one, and loads what it will hold of the slice after that:
//
//             multiply    store to LDS           load from memory
//   barrier
//             slice 0     slice 1                slice 0 of the next chunk
//   barrier
//             slice 1     slice 0 of the next    slice 1 of the next chunk
//   barrier   ...
//
// A barrier means both: what was stored before it may be read after it, and what was read before it may be overwritten after
// it. So a turn needs no more barriers than without prefetch, and a thread holds half a chunk: the registers of a whole one
// would cost a wave of occupancy.
#pragma once
#include "wave_tile_gpu.h"

namespace scaled_mm {

// What one thread copies of each slice. Pieces are numbered as they lie in LDS, so that one offset serves all stores:
//
//   A  piece p = turn * threads + thread:  slot p % planes of row p / planes
//   B  piece p:                            column p % block_n, 16 k of slice-row p / block_n
template <class C>
struct Refill {
  static constexpr int planes = Slices<C>::planes;
  static constexpr int a_pieces = C::a_pieces / kSlices, b_pieces = C::b_pieces / kSlices;
  static constexpr int a_turns = (a_pieces + C::threads - 1) / C::threads, b_turns = (b_pieces + C::threads - 1) / C::threads;

  const void *a_base, *b_base;   // of the tile's next slice in memory: advanced by scalar instructions alone
  u32 a_offset[a_turns], b_offset[b_turns];   // the lane's own, bytes from the base
  u32 lds_offset;
  Piece a[a_turns], b[b_turns];
  int wave;

  METHOD Refill(const Problem &problem, const Corner &corner, int wave_index) : wave(wave_index) {
    a_base = problem.a + static_cast<i64>(corner.m) * problem.k;
    b_base = problem.b + static_cast<i64>(corner.n) * kPieceBytes;
    const int thread = private_thread_index();
#pragma unroll
    for (int turn = 0; turn < a_turns; ++turn) {
      const int piece = turn * C::threads + thread, row = piece / planes;
      a_offset[turn] = static_cast<u32>(at_most(row, corner.last_m)) * static_cast<u32>(problem.k) * 2u +
                       Slices<C>::slot(row, piece % planes) * kPieceBytes;
    }
#pragma unroll
    for (int turn = 0; turn < b_turns; ++turn) {
      const int piece = turn * C::threads + thread;
      const u32 column = static_cast<u32>(at_most(piece % C::block_n, corner.last_n));
      b_offset[turn] = (static_cast<u32>(piece / C::block_n) * static_cast<u32>(problem.n) + column) * kPieceBytes;
    }
    lds_offset = static_cast<u32>(thread) * kPieceBytes;
    keep_in_vgpr(lds_offset);
  }

  // If a slice has fewer pieces than the last turn could copy, whole waves have none of it.
  METHOD bool mine(int turn, int pieces) const {
    return pieces % C::threads == 0 || turn * C::threads + wave * kWaveLanes < pieces;
  }

  // The slice that is `slice` slices after a_base in K; b_base is already there, and goes on to the next.
  METHOD void load(const Problem &problem, int slice) {
    keep_in_sgprs(a_base);
    keep_in_sgprs(b_base);
#pragma unroll
    for (int turn = 0; turn < a_turns; ++turn)
      if (mine(turn, a_pieces)) {
        keep_in_vgpr(a_offset[turn]);
        a[turn] = load_piece(static_cast<const u16 *>(a_base) + slice * C::slice_k, a_offset[turn]);
      }
#pragma unroll
    for (int turn = 0; turn < b_turns; ++turn)
      if (mine(turn, b_pieces)) {
        keep_in_vgpr(b_offset[turn]);
        b[turn] = load_piece(b_base, b_offset[turn]);
      }
    b_base = static_cast<const u8 *>(b_base) + static_cast<u32>(problem.n) * C::slice_k;
    keep_order();   // before the multiplication, which is what hides their latency
  }

  METHOD void next_chunk() { a_base = static_cast<const u16 *>(a_base) + C::chunk_k; }

  METHOD void store(typename Slices<C>::Slice &slice) const {
#pragma unroll
    for (int turn = 0; turn < a_turns; ++turn)
      if (mine(turn, a_pieces)) put(&slice.a[0][0] + turn * C::threads, a[turn]);
#pragma unroll
    for (int turn = 0; turn < b_turns; ++turn)
      if (mine(turn, b_pieces)) put(&slice.b[0][0] + turn * C::threads, b[turn]);
  }

 private:
  METHOD void put(Piece *first, const Piece &piece) const {
    *reinterpret_cast<Piece *>(reinterpret_cast<char *>(first) + lds_offset) = piece;
  }
};

// Adds chunks 0 .. whole_k / chunk_k - 1 of the product. Its readers of LDS may still be under way afterwards.
template <class C, Fp8 kFormat>
DEVICE void multiply_whole(const Problem &problem, const Corner &corner, int whole_k, Slices<C> &slices,
                           WaveTile<C, kFormat> &tile) {
  if (whole_k == 0) return;
  typename Slices<C>::Slice &first = slices.slice[0], &second = slices.slice[1];
  const View<C> view(wave_index());
  Refill<C> refill(problem, corner, wave_index());

  refill.load(problem, 0);
  refill.store(first);
  refill.load(problem, 1);
#pragma unroll 1
  for (int left = whole_k / C::chunk_k - 1; left > 0; --left) {
    refill.next_chunk();
    BARRIER();
    refill.store(second);
    refill.load(problem, 0);
    tile.multiply(first, view);
    BARRIER();
    refill.store(first);
    refill.load(problem, 1);
    tile.multiply(second, view);
  }
  // The last chunk: nothing left to load.
  BARRIER();
  refill.store(second);
  tile.multiply(first, view);
  BARRIER();
  tile.multiply(second, view);
}

}  // namespace scaled_mm
