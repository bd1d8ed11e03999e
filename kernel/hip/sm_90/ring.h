// A block for each multiprocessor computes tiles of C with wgmma, transposed: C' = B' A'. The next tile's stages are filled
// while one is written. B's bytes go through shared memory into registers, where
// they are upcast as the first operand; A is the second, in shared memory. Two warps let TMA fill a ring of stages, one with A
// and one with B, which doesn't wait for the launch before to end: that one doesn't write B (end_packing in launch.h).
// A config means: warps_n / 4 warpgroups that multiply, each repeat_n blocks of 64 columns; a tile of 16 repeat_m rows;
// 16 unroll_k k in a stage.
#pragma once
#include "../fp8.h"
#include "../piece.h"
#include "../problem.h"
#include "async.h"
#include "fragment.h"
#include "packing.h"
#include "ring_memory.h"
#include "wgmma.h"

namespace scaled_mm {

template <class R>
DEVICE void barrier_of_all() {
  if constexpr (R::cluster == 1) {
    __syncthreads();
  } else {
    cluster_barrier();
  }
}

// What a warp does that copies A, or B: one lane starts the copies, into stages that were read.
template <class R, bool kOfA>
DEVICE void fill_ring(const CUtensorMap *map_a, const Problem &problem, const RingMemory<R> &memory, Turn<R> &turn, Tile tile) {
  const Packing packing{problem.n, problem.k};
  const int last_block = (problem.n - 1) / kPackedExtent;
  const bool leads = elected();
  for (int k = 0; k < problem.k; k += R::stage_k, turn.next()) {
    wait(memory.emptied(turn.stage), turn.parity ^ 1);
    if (!leads) continue;
    const u32 filled = memory.filled(turn.stage);
    expect_bytes(filled, kOfA ? R::a_bytes : R::b_bytes);
#pragma unroll
    for (int i = 0; !kOfA && i < R::tile_n / kPackedExtent; ++i) {
      const int block = tile.n / kPackedExtent + i;   // beyond the matrix the last one again: its columns are not stored
      copy_bytes(memory.b(turn.stage) + i * R::blocks_k * kPackedBlock,
                 problem.b + packing.place((block < last_block ? block : last_block) * 8, k / 32), R::blocks_k * kPackedBlock,
                 filled);
    }
#pragma unroll
    for (int i = 0; kOfA && i < R::blocks_k; ++i) {
      const u32 to = memory.a(turn.stage) + i * R::a_box_bytes;
      if constexpr (R::cluster == 1) {
        copy_box(to, map_a, k + i * kPackedK, tile.m, filled);
      } else {
        const int share = cluster_rank<R>() * (R::tile_m / R::cluster);
        copy_box_to(to + share * 128, map_a, k + i * kPackedK, tile.m + share, filled, (1 << R::cluster) - 1);
      }
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
  u16 bias[R::repeat_n][2];   // halves, of a thread's column in each block and of the one 8 columns on

  METHOD void read_bias(const Problem &problem, Tile tile, int group, int thread) {
#pragma unroll
    for (int j = 0; j < R::repeat_n; ++j)
#pragma unroll
      for (int second = 0; second < 2; ++second) {
        const int at = column_at(tile, group, j, thread) + second * 8;
        bias[j][second] = problem.bias && at < problem.n ? problem.bias[at] : u16{0};
      }
  }

  METHOD static int column_at(Tile tile, int group, int j, int thread) {
    return tile.n + (group * R::repeat_n + j) * R::kProductColumns + thread / 32 * 16 + thread % 32 / 4;
  }

  template <Fp8 kFormat>
  METHOD void multiply_all(const Problem &problem, const RingMemory<R> &memory, Turn<R> &turn, int group, int thread) {
    const u8 *const mine = memory.base + R::b_at + R::half_at(group * R::repeat_n, 0) + thread * kPieceBytes;
    Fragment fragments[R::steps][2][R::repeat_n];   // a set for each group of products that is under way, and one to write
    int before = -1;
    for (int k = 0; k < problem.k; k += R::stage_k, before = turn.stage, turn.next()) {
      wait(memory.filled(turn.stage), turn.parity);
      const u64 a = describe(memory.a(turn.stage));
      Piece bytes[R::steps][R::repeat_n];
      const auto read = [&](int step) {
#pragma unroll
        for (int j = 0; j < R::repeat_n; ++j)
          bytes[step][j] = *reinterpret_cast<const Piece *>(mine + turn.stage * R::b_bytes + R::half_at(j, step));
      };
#pragma unroll
      for (int step = 0; R::narrow && step < R::steps; ++step) read(step);   // one wait for all
#pragma unroll
      for (int step = 0; step < R::steps; ++step) {
        if (!R::narrow) read(step);
        wait_products<R::steps - 1>();   // those that read this set of fragments
        if (step == R::steps - 1 && before >= 0) memory.release(before);
#pragma unroll
        for (int j = 0; j < R::repeat_n; ++j) {
          keep_behind(bytes[step][j]);
          upcast<kFormat>(bytes[step][j], 0, fragments[step][0][j]);
          upcast<kFormat>(bytes[step][j], 1, fragments[step][1][j]);
        }
        begin_products();
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int j = 0; j < R::repeat_n; ++j)
            Wgmma<R::tile_m>::add(sums[j], fragments[step][half][j].halves,
                                  a + step / 2 * (R::a_box_bytes / 16) + (step % 2 * 2 + half) * 2, k + step + half > 0);
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
      const float added[2] = {half_to_float(bias[j][0]), half_to_float(bias[j][1])};
      const u32 to = memory.c(group * R::repeat_n + j) + lane_row * 128 + lane_piece * kPieceBytes;
#pragma unroll
      for (int row = 0; row < R::tile_m; row += 16) {
        u32 pairs[4];   // 8 rows x 8 columns, the columns after them, and the same 8 rows on
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float *const two = &sums[j][row / 2 + i * 2];
          pairs[i] = float_to_half(two[0] * problem.scale + added[i % 2]) |
                     static_cast<u32>(float_to_half(two[1] * problem.scale + added[i % 2])) << 16;
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
        const int column = column_at(tile, group, j, thread) + second * 8;
        if (column >= problem.n) continue;
        const float added = half_to_float(bias[j][second]);
#pragma unroll
        for (int i = 0; i < R::tile_m / 4; ++i) {
          const int row = tile.m + i / 2 * 8 + quad + i % 2;
          if (row < problem.m)
            problem.c[static_cast<i64>(row) * problem.n + column] =
                float_to_half(sums[j][i / 2 * 4 + second * 2 + i % 2] * problem.scale + added);
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
    fetch_map(map_a);
    if (map_c != nullptr) fetch_map(map_c);
    for (int stage = 0; stage < R::stages; ++stage) {
      init_barrier(memory.filled(stage), 2);   // the warp that copies A and the one that copies B
      init_barrier(memory.emptied(stage), R::groups * 4 * R::cluster);   // each warp that multiplies
    }
    publish_barriers();
  }
  barrier_of_all<R>();
  Turn<R> turn;   // goes on from tile to tile
  if (group == R::groups) {
    move_registers<R>(true);
    const int warp = thread_index() / kWaveLanes - R::groups * 4;
    if (warp == 0) {
      for (int index = first; index < tiles; index += stride) fill_ring<R, false>(map_a, problem, memory, turn, tile_at(index));
    } else if (warp == 1) {
      wait_for_launch_before();
      for (int index = first; index < tiles; index += stride) fill_ring<R, true>(map_a, problem, memory, turn, tile_at(index));
    }
  } else {
    move_registers<R>(false);
    wait_for_launch_before();   // before bias is read and C is written
    let_next_begin();           // not sooner: it may then rely on what this launch's own waited for
    GroupTile<R> sums;
    const int thread = thread_index() % R::kGroupThreads;
    for (int index = first; index < tiles; index += stride) {
      if (R::narrow) sums.read_bias(problem, tile_at(index), group, thread);   // under way while products are made
      sums.template multiply_all<kFormat>(problem, memory, turn, group, thread);
      if (!R::narrow) sums.read_bias(problem, tile_at(index), group, thread);
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
