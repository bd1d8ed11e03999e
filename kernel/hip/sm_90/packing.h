// The prepacked B on sm_90: every byte of B (k, n) once, and zeros, in the order of a 64 x 16 operand that wgmma takes from
// registers. (The columns of B are its rows: the product is computed transposed.) It stays fp8 bytes. n and k are padded to
// multiples of 128.
//
//   [n / 128][k / 64][n half: 64 columns][k half: 32 k][thread 0..127][16 bytes]
//
// A thread's 16 bytes are what it needs for 32 k: lane l of warp w has columns 16w + l / 4 (first) and 8 more (second) and,
// with q = l % 4, of each 16 k the four 2q, 2q + 1, 2q + 8, 2q + 9:
//
//   byte 0..3   first: 2q, 2q + 1;  second: 2q, 2q + 1     byte 4..7   the same, k + 8     byte 8..15   the same, k + 16
//
// mma.sync m16n8k16 wants its operand in the same lanes, so both kernels read this order.
#pragma once
#include "../config.h"
#include "../phases.h"

namespace scaled_mm {

constexpr int kPackedExtent = 128;   // n and k are padded to multiples of it
constexpr int kPackedK = 64;         // k of one packed block
constexpr int kPackedHalf = 4096;    // bytes of 64 columns x 64 k
constexpr int kPackedBlock = 2 * kPackedHalf;
constexpr int kPackedStep = 2048;    // bytes of 64 columns x 32 k

struct Packing {
  i64 n, k;

  __host__ __device__ static i64 padded(i64 extent) { return (extent + kPackedExtent - 1) / kPackedExtent * kPackedExtent; }
  __host__ __device__ i64 bytes() const { return padded(k) * padded(n); }

  // Where the 32 lanes of columns 16 group .. and k 32 step .. begin.
  __host__ __device__ i64 place(i64 group, i64 step) const {
    return (group / 8 * (padded(k) / kPackedK) + step / 2) * kPackedBlock + group / 4 % 2 * kPackedHalf +
           step % 2 * kPackedStep + group % 4 * 512;
  }

  // The byte of the packed B at `place`.
  __host__ __device__ u8 byte_at(i64 place, const u8 *b) const {
    const i64 block = place / kPackedBlock, blocks_k = padded(k) / kPackedK;
    const int byte = static_cast<int>(place % 16), thread = static_cast<int>(place / 16 % 128);
    const int half = static_cast<int>(place / kPackedHalf % 2), step = static_cast<int>(place / kPackedStep % 2);
    const int lane = thread % 32, second = byte / 2 % 2;
    const i64 column = block / blocks_k * kPackedExtent + half * 64 + thread / 32 * 16 + lane / 4 + second * 8;
    const i64 row = block % blocks_k * kPackedK + step * 32 + byte / 4 * 8 + lane % 4 * 2 + byte % 2;
    return row < k && column < n ? b[row * n + column] : 0;
  }
};

}  // namespace scaled_mm
