// The prepacked B: every byte of B (k, n) once, in the order in which the kernels read them, and zeros. It stays fp8 bytes.
//
//   [ceil(k / 16)][n][16]   16 consecutive k of a column lie together; zero from K on
#pragma once
#include "config.h"
#include "phases.h"

#if ON_SM90
#include "sm_90/packing.h"
#else

#if ON_CPU
#define HOST_AND_DEVICE
#else
#define HOST_AND_DEVICE __host__ __device__
#endif

namespace scaled_mm {

struct Packing {
  i64 n, k;

  HOST_AND_DEVICE i64 bytes() const { return (k + kPieceBytes - 1) / kPieceBytes * kPieceBytes * n; }

  // The byte of the packed B at `place`.
  HOST_AND_DEVICE u8 byte_at(i64 place, const u8 *b) const {
    const i64 column = place / kPieceBytes % n, row = place / kPieceBytes / n * kPieceBytes + place % kPieceBytes;
    return row < k ? b[row * n + column] : 0;
  }
};

}  // namespace scaled_mm

#endif
