// A block for each multiprocessor computes tiles of C with wgmma, transposed: C' = B' A'. The next tile's stages are filled
// while one is written. B's bytes go through shared memory into registers, where
// they are upcast as the first operand; A is the second, in shared memory. A warp of its own lets TMA fill a ring of stages.
// A config means: warps_n / 4 warpgroups that multiply, each repeat_n blocks of 64 columns; a tile of 16 repeat_m rows;
// 16 unroll_k k in a stage.
#pragma once
#include "../fp8.h"
#include "../piece.h"
#include "../problem.h"
#include "async.h"
#include "fragment.h"
#include "packing.h"
#include "wgmma.h"

namespace scaled_mm {

template <int kWarpsM, int kWarpsN, int kUnrollK, int kStages, int kRepeatM, int kRepeatN>
struct Ring {
  static constexpr int kGroupThreads = 128, kProductColumns = 64, kAlignment = 1024;
  static constexpr int groups = kWarpsN / 4, stages = kStages, repeat_n = kRepeatN;
  static constexpr bool moves_registers = groups > 1;   // from a whole group, of which one warp copies, to those that multiply
  static constexpr int threads = groups * kGroupThreads + (moves_registers ? kGroupThreads : kWaveLanes);
  static constexpr int tile_m = kFragment * kRepeatM, tile_n = kProductColumns * kRepeatN * groups;
  static constexpr int cluster = repeat_n;   // blocks side by side along n: each copies its share of A's box to all
  static constexpr int stage_k = kFragment * kUnrollK, steps = stage_k / 32;   // the products of a step are one group
  static constexpr int a_bytes = tile_m * stage_k * 2, b_bytes = tile_n * stage_k;
  static constexpr int c_block_bytes = tile_m * kProductColumns * 2;
  static constexpr int b_at = stages * a_bytes, c_at = b_at + stages * b_bytes;
  static constexpr int barriers_at = c_at + c_block_bytes * repeat_n * groups;
  static constexpr int shared_bytes = kAlignment + barriers_at + 2 * 8 * stages;

  static_assert(kWarpsM == 1 && kWarpsN % 4 == 0, "four warps multiply 64 columns together");
  static_assert(tile_n % kPackedExtent == 0 && stage_k == kPackedK, "a stage is whole blocks of the packed B");
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

template <class R>
DEVICE void barrier_of_all() {
  if constexpr (R::cluster == 1) {
    __syncthreads();
  } else {
    cluster_barrier();
  }
}

// What the last warp does: one lane starts the copies, into stages that were read.
template <class R>
DEVICE void fill_ring(const CUtensorMap *map_a, const Problem &problem, const RingMemory<R> &memory, Turn<R> &turn, Tile tile) {
  const Packing packing{problem.n, problem.k};
  const int last_block = (problem.n - 1) / kPackedExtent;
  if (thread_index() / kWaveLanes != R::groups * 4) return;
  const bool leads = elected();
  for (int k = 0; k < problem.k; k += R::stage_k, turn.next()) {
    wait(memory.emptied(turn.stage), turn.parity ^ 1);
    if (!leads) continue;
    const u32 filled = memory.filled(turn.stage);
    expect_bytes(filled, R::a_bytes + R::b_bytes);
#pragma unroll
    for (int i = 0; i < R::tile_n / kPackedExtent; ++i) {
      const int block = tile.n / kPackedExtent + i;   // beyond the matrix the last one again: its columns are not stored
      copy_bytes(memory.b(turn.stage) + i * kPackedBlock,
                 problem.b + packing.place((block < last_block ? block : last_block) * 8, k / 32), kPackedBlock, filled);
    }
    if constexpr (R::cluster == 1) {
      copy_box(memory.a(turn.stage), map_a, k, tile.m, filled);
    } else {
      const int share = cluster_rank<R>() * (R::tile_m / R::cluster);
      copy_box_to(memory.a(turn.stage) + share * 128, map_a, k, tile.m + share, filled, (1 << R::cluster) - 1);
    }
  }
}

// 384 threads begin with 168 registers each; 128 sums and two sets of fragments need more. To be called where the ways part for
// good: ptxas ignores it where code that all threads run follows and needs more than what is left.
template <class R>
DEVICE void move_registers(bool gives) {
  if constexpr (R::moves_registers) {
    if (gives) {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    } else {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    }
  }
}

// 16 k of 64 columns, as wgmma takes them.
struct Fragment { u32 halves[4]; };

template <Fp8 kFormat>
DEVICE void upcast(const Piece &bytes, int half, Fragment &fragment) {
#pragma unroll
  for (int i = 0; i < 4; ++i) fragment.halves[i] = upcast_pair<kFormat>(bytes.word[2 * half + i / 2], i % 2);
}

// The compiler must not work on these bytes before this point.
DEVICE void keep_behind(Piece &bytes) {
#pragma unroll
  for (int i = 0; i < 4; ++i) asm volatile("" : "+r"(bytes.word[i])::"memory");
}

// The sums of one warpgroup.
template <class R>
struct GroupTile {
  float sums[R::repeat_n][R::tile_m / 2];

  template <Fp8 kFormat>
  METHOD void multiply_all(const Problem &problem, const RingMemory<R> &memory, Turn<R> &turn, int group, int thread) {
    const u8 *const mine = memory.base + R::b_at + group * R::repeat_n * kPackedHalf + thread * kPieceBytes;
    Fragment fragments[R::steps][2][R::repeat_n];   // a set for each group of products that is under way, and one to write
    int before = -1;
    for (int k = 0; k < problem.k; k += R::stage_k, before = turn.stage, turn.next()) {
      wait(memory.filled(turn.stage), turn.parity);
      const u64 a = describe(memory.a(turn.stage));
#pragma unroll
      for (int step = 0; step < R::steps; ++step) {
        Piece bytes[R::repeat_n];
#pragma unroll
        for (int j = 0; j < R::repeat_n; ++j)
          bytes[j] = *reinterpret_cast<const Piece *>(mine + turn.stage * R::b_bytes + j * kPackedHalf + step * kPackedStep);
        wait_products<R::steps - 1>();   // those that read this set of fragments
        if (step == R::steps - 1 && before >= 0) memory.release(before);
#pragma unroll
        for (int j = 0; j < R::repeat_n; ++j) {
          keep_behind(bytes[j]);
          upcast<kFormat>(bytes[j], 0, fragments[step][0][j]);
          upcast<kFormat>(bytes[j], 1, fragments[step][1][j]);
        }
        begin_products();
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int j = 0; j < R::repeat_n; ++j)
            Wgmma<R::tile_m>::add(sums[j], fragments[step][half][j].halves, a + (step * 2 + half) * 2, k + step + half > 0);
        commit_products();
      }
    }
    wait_products<0>();
    memory.release(before);
#pragma unroll
    for (int j = 0; j < R::repeat_n; ++j) hold(sums[j]);
  }

  // Rows of 64 columns in shared memory, swizzled as describe() says, then a box to C for each block of columns.
  METHOD void write_boxes(const CUtensorMap *map_c, const Problem &problem, const RingMemory<R> &memory, Tile tile, int group,
                          int thread) const {
    const int warp = thread / 32, lane = thread % 32;
    const u32 lane_row = lane / 16 * 8 + lane % 8, lane_piece = (2 * warp + lane / 8 % 2) ^ (lane % 8);
    if (thread == 0) wait_stores_read();
    group_barrier(group);   // read before refill
#pragma unroll
    for (int j = 0; j < R::repeat_n; ++j) {
      const int block = group * R::repeat_n + j, column = tile.n + block * R::kProductColumns + warp * 16 + lane / 4;
      float bias[2];
#pragma unroll
      for (int second = 0; second < 2; ++second) {
        const int at = column + second * 8;
        bias[second] = problem.bias && at < problem.n ? half_to_float(problem.bias[at]) : 0.0f;
      }
      const u32 to = memory.c(block) + lane_row * 128 + lane_piece * kPieceBytes;
#pragma unroll
      for (int row = 0; row < R::tile_m; row += 16) {
        u32 pairs[4];   // 8 rows x 8 columns, the columns after them, and the same 8 rows on
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float *const two = &sums[j][row / 2 + i * 2];
          pairs[i] = float_to_half(two[0] * problem.scale + bias[i % 2]) |
                     static_cast<u32>(float_to_half(two[1] * problem.scale + bias[i % 2])) << 16;
        }
        store_transposed(to + row * 128, pairs);
      }
    }
    publish_to_copies();
    group_barrier(group);
    if (thread == 0) {
#pragma unroll
      for (int j = 0; j < R::repeat_n; ++j) {
        const int block = group * R::repeat_n + j, column = tile.n + block * R::kProductColumns;
        if (column < problem.n) store_box(map_c, memory.c(block), column, tile.m);
      }
      commit_stores();
    }
  }

  METHOD void write(const Problem &problem, Tile tile, int group, int thread) const {
    const int quad = thread % 4 * 2;
#pragma unroll
    for (int j = 0; j < R::repeat_n; ++j)
#pragma unroll
      for (int second = 0; second < 2; ++second) {
        const int block = tile.n + (group * R::repeat_n + j) * R::kProductColumns;
        const int column = block + thread / 32 * 16 + thread % 32 / 4 + second * 8;
        if (column >= problem.n) continue;
        const float bias = problem.bias ? half_to_float(problem.bias[column]) : 0.0f;
#pragma unroll
        for (int i = 0; i < R::tile_m / 4; ++i) {
          const int row = tile.m + i / 2 * 8 + quad + i % 2;
          if (row < problem.m)
            problem.c[static_cast<i64>(row) * problem.n + column] =
                float_to_half(sums[j][i / 2 * 4 + second * 2 + i % 2] * problem.scale + bias);
        }
      }
  }
};

template <class R, Fp8 kFormat>
DEVICE void compute_ring_tiles(const CUtensorMap *map_a, const CUtensorMap *map_c, const Problem &problem, u8 *raw) {
  const RingMemory<R> memory(raw);
  const int group = __shfl_sync(0xffffffffu, thread_index() / R::kGroupThreads, 0);   // said to be the same for all lanes
  constexpr int kClusterN = R::tile_n * R::cluster;   // a tile of the cluster; beyond the matrix a block stores nothing
  const int tiles_m = (problem.m + R::tile_m - 1) / R::tile_m, tiles_n = (problem.n + kClusterN - 1) / kClusterN;
  const auto tile_at = [&](int index) {
    return Tile{index / tiles_n * R::tile_m, index % tiles_n * kClusterN + cluster_rank<R>() * R::tile_n};
  };
  const int first = static_cast<int>(blockIdx.x) / R::cluster, stride = static_cast<int>(gridDim.x) / R::cluster;
  const int tiles = tiles_m * tiles_n;
  if (thread_index() == 0) {
    for (int stage = 0; stage < R::stages; ++stage) {
      init_barrier(memory.filled(stage), 1);
      init_barrier(memory.emptied(stage), R::groups * 4 * R::cluster);   // each warp that multiplies
    }
    publish_barriers();
  }
  barrier_of_all<R>();
  Turn<R> turn;   // goes on from tile to tile
  if (group == R::groups) {
    move_registers<R>(true);
    for (int index = first; index < tiles; index += stride) fill_ring<R>(map_a, problem, memory, turn, tile_at(index));
  } else {
    move_registers<R>(false);
    GroupTile<R> sums;
    const int thread = thread_index() % R::kGroupThreads;
    for (int index = first; index < tiles; index += stride) {
      sums.template multiply_all<kFormat>(problem, memory, turn, group, thread);
      if (map_c != nullptr) {
        sums.write_boxes(map_c, problem, memory, tile_at(index), group, thread);
      } else {
        sums.write(problem, tile_at(index), group, thread);
      }
    }
    if (thread == 0) wait_stores_read();   // before the memory is another block's
  }
  if constexpr (R::cluster > 1) cluster_barrier();   // no block leaves while another may still arrive at its barriers
}

}  // namespace scaled_mm
