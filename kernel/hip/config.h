// The tile shapes that are built. A config is (warps_m, warps_n, unroll_k, stages, repeat_m, repeat_n):
//
//   one wave multiplies   16 repeat_m x 16 repeat_n   (its accumulators never leave its registers)
//   one workgroup         block_m = 16 warps_m repeat_m   x   block_n = 16 warps_n repeat_n
//   one turn of the loop  chunk_k = 16 unroll_k, kept in LDS as two slices of chunk_k / 2 (that is what stages = 2 means)
#pragma once

// Every config that a build contains, in the order of their index. A build of one config alone: -DSCALED_MM_CONFIG=1,8,2,2,8,2
#if defined(SCALED_MM_CONFIG)
#define SCALED_MM_APPLY(X, ...) X(__VA_ARGS__)
#define SCALED_MM_CONFIGS(X) SCALED_MM_APPLY(X, SCALED_MM_CONFIG)
#elif defined(__CUDACC__) && !defined(__HIP__)
#include "sm_90/configs.h"
#else
#define SCALED_MM_CONFIGS(X) \
  X(1, 8, 2, 2, 8, 2)  /* 128 x 256: the winner on gfx1151 */ \
  X(2, 2, 2, 2, 4, 4)  /* 128 x 128, square wave tiles, half the waves */ \
  X(2, 4, 2, 2, 4, 2)  /* 128 x 128 */ \
  X(2, 4, 4, 2, 4, 2)  /* 128 x 128, twice the chunk: half the barriers */ \
  X(1, 4, 2, 2, 4, 2)  /*  64 x 128 */ \
  X(2, 2, 2, 2, 2, 2)  /*  64 x  64: enough workgroups for a middling shape */ \
  X(1, 2, 4, 2, 2, 2)  /*  32 x  64: small and thin shapes */
#endif

namespace scaled_mm {

constexpr int kFragment = 16;       // a matrix instruction multiplies 16 x 16 x 16 on all three machines
constexpr int kWaveLanes = 32;      // gfx11 in wave32, a warp on sm_90
constexpr int kPieceBytes = 16;     // the unit of every copy: 8 halves of A, or 16 fp8 of one column of B
constexpr int kHalvesPerPiece = 8;
constexpr int kSlices = 2;

template <int kWarpsM, int kWarpsN, int kUnrollK, int kStages, int kRepeatM, int kRepeatN>
struct Config {
  static constexpr int warps_m = kWarpsM, warps_n = kWarpsN, repeat_m = kRepeatM, repeat_n = kRepeatN;
  static constexpr int waves = kWarpsM * kWarpsN;
  static constexpr int threads = waves * kWaveLanes;
  static constexpr int wave_m = kFragment * kRepeatM, wave_n = kFragment * kRepeatN;
  static constexpr int block_m = wave_m * kWarpsM, block_n = wave_n * kWarpsN;
  static constexpr int chunk_k = kFragment * kUnrollK, slice_k = chunk_k / kSlices;
  static constexpr int a_pieces = block_m * chunk_k / kHalvesPerPiece;
  static constexpr int b_pieces = block_n * chunk_k / kPieceBytes;
  static constexpr int a_turns = a_pieces / threads, b_turns = b_pieces / threads;   // pieces that one thread copies

  static_assert(kStages == kSlices, "stages is fixed at 2 (P14): the LDS of a chunk is laid out as exactly two slices");
  static_assert(kUnrollK % kSlices == 0, "unroll_k must be even: each slice holds whole 16-deep fragments");
  static_assert(threads <= 1024, "a workgroup has at most 1024 threads on gfx11 and sm_90");
  static_assert(a_turns * threads == a_pieces, "every thread must copy the same number of A pieces: no check in the loop");
  static_assert(b_turns * threads == b_pieces, "every thread must copy the same number of B pieces: no check in the loop");
  static_assert(kRepeatM * kRepeatN <= 16, "16 accumulator fragments fill 128 of the 256 registers a gfx11 wave can name");
  static_assert(block_m <= 256, "lane offsets into A are 32 bits: 256 rows of kMaxExtent halves is the most they reach");
};

constexpr int kMaxExtent = 1 << 22;   // of M, N and K; see the 32-bit lane offsets in stage.h

}  // namespace scaled_mm
