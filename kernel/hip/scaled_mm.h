// C[M,N] = half((A[M,K] fp16 x B[K,N] fp8) * scale + bias[N]), fp32 accumulation. B is prepacked, [K/16][N][16] bytes.
// One workgroup computes one tile of C, chunk by chunk of K.
#pragma once
#include "config.h"
#include "phases.h"
#include "stage.h"
#if ON_CPU
#include "wave_tile_cpu.h"
#elif ON_GFX11
#include "ring_gfx11.h"
#else
#include "wave_tile_gpu.h"
#endif

namespace scaled_mm {

template <class C, Fp8 kFormat>
DEVICE void multiply_chunk(const Slices<C> &slices, WaveTile<C, kFormat> &tile, const Corner &corner, int wave) {
  // A CPU has no use for a wave whose columns all lie beyond the matrix. On a GPU its lanes would only idle.
  if (ON_CPU && wave % C::warps_n * C::wave_n > corner.last_n) return;
#pragma unroll
  for (int s = 0; s < kSlices; ++s) tile.multiply(slices.slice[s], wave);
}

#if !ON_GFX11   // which has its own: ring_gfx11.h
// Adds chunks 0 .. whole_k / chunk_k - 1 of the product. Tiles: what PER_WAVE declares.
template <class C, Fp8 kFormat, class Tiles>
DEVICE void multiply_whole(const Problem &problem, const Corner &corner, int whole_k, Slices<C> &slices, Tiles &tile) {
  PER_THREAD(Stage<C>, stage, C::threads);
  if constexpr (kPrefetch)
    if (whole_k > 0) {
      FOR_EACH_THREAD(thread, C::threads) load_whole<C>(OF_THREAD(stage, thread), thread, problem, corner, 0);
    }

  for (int k = 0; k < whole_k; k += C::chunk_k) {
    FOR_EACH_THREAD(thread, C::threads) {
      if constexpr (!kPrefetch) load_whole<C>(OF_THREAD(stage, thread), thread, problem, corner, k);
      store<C>(OF_THREAD(stage, thread), thread, slices);
    }
    // Fill before read: a fragment holds pieces that other waves stored.
    BARRIER();
    if constexpr (kPrefetch) {
      // Into registers only, so it can run ahead of the readers of LDS. The last turn loads its own chunk again:
      // cheaper than a branch around it.
      const int next_k = k + C::chunk_k < whole_k ? k + C::chunk_k : k;
      FOR_EACH_THREAD(thread, C::threads) load_whole<C>(OF_THREAD(stage, thread), thread, problem, corner, next_k);
    }
    FOR_EACH_WAVE(wave, C::waves) multiply_chunk<C, kFormat>(slices, OF_WAVE(tile, wave), corner, wave);
    // Read before refill: the next turn overwrites both slices, and no wave may do so while another
    // one still reads them. Both slices are refilled together, so one barrier serves both.
    BARRIER();
  }
}
#endif

template <class C, Fp8 kFormat>
DEVICE void compute_tile(const Problem &problem, BlockId block, Slices<C> &slices) {
  using Tile = WaveTile<C, kFormat>;
  PER_WAVE(Tile, tile, C::waves);
  const Corner corner(problem, block.m * C::block_m, block.n * C::block_n);

  // The whole chunks need no checks; what is left goes through the loop after them.
  const bool aligned = kUnalignedPieces || (problem.k % kHalvesPerPiece == 0 &&
                                            reinterpret_cast<u64>(problem.a) % kPieceBytes == 0);
  const int whole_k = aligned ? problem.k / C::chunk_k * C::chunk_k : 0;

  FOR_EACH_WAVE(wave, C::waves) OF_WAVE(tile, wave).clear_all();

  multiply_whole<C, kFormat>(problem, corner, whole_k, slices, tile);

#pragma unroll 1
  for (int k = whole_k; k < problem.k; k += C::chunk_k) {
    BARRIER();   // read before refill, by the whole chunks or by the last turn of this loop
    FOR_EACH_THREAD(thread, C::threads) fill_edge<C>(thread, problem, corner, k, slices);
    BARRIER();   // fill before read
    FOR_EACH_WAVE(wave, C::waves) multiply_chunk<C, kFormat>(slices, OF_WAVE(tile, wave), corner, wave);
  }

  // The accumulators are the wave's own: writing them needs no barrier.
  FOR_EACH_WAVE(wave, C::waves) OF_WAVE(tile, wave).write(problem, corner, wave);
}

}  // namespace scaled_mm
