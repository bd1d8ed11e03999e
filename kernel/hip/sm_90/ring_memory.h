// What a config means for a ring (ring.h), and where things lie in the shared memory of a block.
#pragma once
#include "async.h"
#include "fragment.h"
#include "packing.h"

namespace scaled_mm {

template <int kWarpsM, int kWarpsN, int kUnrollK, int kStages, int kRepeatM, int kRepeatN>
struct Ring {
  static constexpr int kGroupThreads = 128, kProductColumns = 64, kAlignment = 1024;
  static constexpr int groups = kWarpsN / 4, stages = kStages, repeat_n = kRepeatN;
  static constexpr bool moves_registers = groups > 1;   // from a whole group, of which two warps copy, to those that multiply
  static constexpr int threads = groups * kGroupThreads + (moves_registers ? kGroupThreads : 2 * kWaveLanes);
  static constexpr int tile_m = kFragment * kRepeatM, tile_n = kProductColumns * kRepeatN * groups;
  static constexpr int cluster = repeat_n;   // blocks side by side along n: each copies its share of A's box to all
  static constexpr int stage_k = kFragment * kUnrollK, steps = stage_k / 32;   // the products of a step are one group
  static constexpr int a_box_bytes = tile_m * kPackedK * 2;
  static constexpr int a_bytes = tile_m * stage_k * 2, b_bytes = tile_n * stage_k;
  static constexpr bool narrow = tile_m <= 64;   // products that end soon, and registers to spare
  static constexpr int blocks_k = stage_k / kPackedK;   // boxes of A, and neighbouring blocks of the packed B
  static constexpr int c_block_bytes = tile_m * kProductColumns * 2;
  static constexpr int b_at = stages * a_bytes, c_at = b_at + stages * b_bytes;
  static constexpr int barriers_at = c_at + c_block_bytes * repeat_n * groups;
  static constexpr int shared_bytes = kAlignment + barriers_at + 2 * 8 * stages;

  // Where 64 columns x 32 k of B lie in a stage. Of a group's columns: where the first lie, and how far on the others.
  METHOD static int half_at(int half, int step) {
    return (half / 2 * blocks_k + step / 2) * kPackedBlock + half % 2 * kPackedHalf + step % 2 * kPackedStep;
  }

  static_assert(kWarpsM == 1 && kWarpsN % 4 == 0, "four warps multiply 64 columns together");
  static_assert(tile_n % kPackedExtent == 0 && kPackedExtent % stage_k == 0 && blocks_k > 0,
                "a stage is whole blocks of the packed B");
  static_assert(shared_bytes <= 227 * 1024, "what a block can have on sm_90");
};

// The shared memory of a block, as addresses.
template <class R>
struct RingMemory {
  u8 *base;
  u32 address;
  METHOD explicit RingMemory(u8 *raw) {
    const u32 unaligned = lds_address(raw), skipped = (R::kAlignment - unaligned % R::kAlignment) % R::kAlignment;
    base = raw + skipped;
    address = unaligned + skipped;
  }
  METHOD u32 a(int stage) const { return address + stage * R::a_bytes; }
  METHOD u32 b(int stage) const { return address + R::b_at + stage * R::b_bytes; }
  METHOD u32 c(int block) const { return address + R::c_at + block * R::c_block_bytes; }
  METHOD u32 filled(int stage) const { return address + R::barriers_at + 8 * stage; }
  METHOD u32 emptied(int stage) const { return filled(R::stages + stage); }

  // A warp has read a stage: said to every block that copies into it.
  METHOD void release(int stage) const {
    if constexpr (R::cluster == 1) {
      if (lane_index() == 0) arrive(emptied(stage));
    } else {
      if (lane_index() < R::cluster) arrive_at(emptied(stage), lane_index());
    }
  }
};

// Where a warp stands in the ring.
template <class R>
struct Turn {
  int stage = 0;
  u32 parity = 0;
  METHOD void next() {
    if (++stage == R::stages) stage = 0, parity ^= 1;
  }
};

struct Tile { int m, n; };   // first row, first column

template <class R>
DEVICE int cluster_rank() { return static_cast<int>(blockIdx.x) % R::cluster; }

}  // namespace scaled_mm
