import pathlib
R=pathlib.Path('/tmp/w/gpu/kernel/hip/sm_90')
def sub(name,*pairs):
    f=R/name; t=f.read_text()
    for a,b in pairs:
        assert t.count(a)==1,(name,a,t.count(a)); t=t.replace(a,b)
    f.write_text(t)
sub('ring.h',
('''// 16 unroll_k k in a stage.
''','''// 16 unroll_k k in a stage. With few rows two blocks of a cluster share the k of a tile, because its columns alone would leave half
// of the multiprocessors idle; the first adds up what the second sends it.
'''),
('''  static constexpr int cluster = repeat_n;   // blocks side by side along n: each copies its share of A's box to all
''','''  static constexpr int sharers = repeat_n;   // blocks side by side along n: each copies its share of A's box to all
  static constexpr int k_parts = sharers == 1 && tile_m <= 64 ? 2 : 1, cluster = sharers * k_parts;
'''),
('''  static constexpr int barriers_at = c_at + c_block_bytes * repeat_n * groups;
  static constexpr int shared_bytes = kAlignment + barriers_at + 2 * 8 * stages;
''','''  static constexpr int parts_at = c_at + c_block_bytes * repeat_n * groups;   // the other block's sums
  static constexpr int part_bytes = k_parts > 1 ? tile_m * tile_n * 4 : 0;
  static constexpr int barriers_at = parts_at + part_bytes;
  static constexpr int shared_bytes = kAlignment + barriers_at + 2 * 8 * (stages + 1);
'''),
('''  METHOD u32 emptied(int stage) const { return filled(R::stages + stage); }
''','''  METHOD u32 emptied(int stage) const { return filled(R::stages + stage); }
  METHOD u32 part(int group, int thread, int four) const {   // four sums of a thread
    return address + R::parts_at + ((four * R::groups + group) * R::kGroupThreads + thread) * 16;
  }
  METHOD u32 part_filled() const { return filled(2 * R::stages); }
  METHOD u32 part_emptied() const { return filled(2 * R::stages + 1); }
'''),
('''    if constexpr (R::cluster == 1) {
      if (lane_index() == 0) arrive(emptied(stage));
    } else {
      if (lane_index() < R::cluster) arrive_at(emptied(stage), lane_index());
    }
''','''    if constexpr (R::sharers == 1) {
      if (lane_index() == 0) arrive(emptied(stage));
    } else {
      if (lane_index() < R::sharers) arrive_at(emptied(stage), lane_index());
    }
'''),
('''struct Tile { int m, n; };   // first row, first column
''','''struct Tile { int m, n; };   // first row, first column
struct Span { int begin, end; };   // of k
'''),
('''template <class R>
DEVICE void barrier_of_all() {''','''// The k that this block multiplies: whole stages; where there is one alone the second block has none.
template <class R>
DEVICE Span own_k(const Problem &problem) {
  if constexpr (R::k_parts == 1) return {0, problem.k};
  const int middle = (problem.k + 2 * R::stage_k - 1) / (2 * R::stage_k) * R::stage_k;
  return cluster_rank<R>() == 0 ? Span{0, middle < problem.k ? middle : problem.k} : Span{middle, problem.k};
}

template <class R>
DEVICE void barrier_of_all() {'''),
('''  const bool leads = elected();
  for (int k = 0; k < problem.k; k += R::stage_k, turn.next()) {
''','''  const bool leads = elected();
  const Span span = own_k<R>(problem);
  for (int k = span.begin; k < span.end; k += R::stage_k, turn.next()) {
'''),
('''    if constexpr (R::cluster == 1) {
      copy_box(memory.a(turn.stage), map_a, k, tile.m, filled);
    } else {
      const int share = cluster_rank<R>() * (R::tile_m / R::cluster);
      copy_box_to(memory.a(turn.stage) + share * 128, map_a, k, tile.m + share, filled, (1 << R::cluster) - 1);
    }
''','''    if constexpr (R::sharers == 1) {
      copy_box(memory.a(turn.stage), map_a, k, tile.m, filled);
    } else {
      const int share = cluster_rank<R>() * (R::tile_m / R::sharers);
      copy_box_to(memory.a(turn.stage) + share * 128, map_a, k, tile.m + share, filled, (1 << R::sharers) - 1);
    }
'''),
('''    int before = -1;
    for (int k = 0; k < problem.k; k += R::stage_k, before = turn.stage, turn.next()) {
''','''    int before = -1;
    const Span span = own_k<R>(problem);
    if (R::k_parts > 1 && span.begin >= span.end) {
#pragma unroll
      for (int i = 0; i < R::tile_m / 2; ++i) sums[0][i] = 0.0f;
      return;
    }
    for (int k = span.begin; k < span.end; k += R::stage_k, before = turn.stage, turn.next()) {
'''),
('''Wgmma<R::tile_m>::add(sums[j], fragments[step][half][j].halves, a + (step * 2 + half) * 2, k + step + half > 0);
''','''Wgmma<R::tile_m>::add(sums[j], fragments[step][half][j].halves, a + (step * 2 + half) * 2,
                                  k - span.begin + step + half > 0);
'''),
('''  // Rows of 64 columns in shared memory, swizzled as describe() says, then a box to C for each block of columns.
''','''  // The second block of a cluster sends its sums to the first, which adds them. `parity`: of the number of tiles before.
  METHOD void send_part(const RingMemory<R> &memory, int group, int thread, u32 parity) const {
    wait(memory.part_emptied(), parity ^ 1);
    const u32 filled = in_block(memory.part_filled(), 0);
#pragma unroll
    for (int i = 0; i < R::tile_m / 8; ++i) store_at(in_block(memory.part(group, thread, i), 0), &sums[0][4 * i], filled);
  }
  METHOD void add_part(const RingMemory<R> &memory, int group, int thread, u32 parity) {
    if (group == 0 && thread == 0) expect_bytes(memory.part_filled(), R::part_bytes);
    wait(memory.part_filled(), parity);
#pragma unroll
    for (int i = 0; i < R::tile_m / 8; ++i) {
      const float4 four = *reinterpret_cast<const float4 *>(memory.base + (memory.part(group, thread, i) - memory.address));
      sums[0][4 * i] += four.x, sums[0][4 * i + 1] += four.y, sums[0][4 * i + 2] += four.z, sums[0][4 * i + 3] += four.w;
    }
    hold(sums[0]);   // read before the next part comes
    if (lane_index() == 0) arrive_at(memory.part_emptied(), 1);
  }

  // Rows of 64 columns in shared memory, swizzled as describe() says, then a box to C for each block of columns.
'''),
('''  constexpr int kClusterN = R::tile_n * R::cluster;   // a tile of the cluster; beyond the matrix a block stores nothing
''','''  constexpr int kClusterN = R::tile_n * R::sharers;   // a tile of the cluster; beyond the matrix a block stores nothing
'''),
('''    return Tile{index / tiles_n * R::tile_m, index % tiles_n * kClusterN + cluster_rank<R>() * R::tile_n};
''','''    return Tile{index / tiles_n * R::tile_m, index % tiles_n * kClusterN + cluster_rank<R>() % R::sharers * R::tile_n};
'''),
('''R::groups * 4 * R::cluster);   // each warp that multiplies
    }
''','''R::groups * 4 * R::sharers);   // each warp that multiplies
    }
    init_barrier(memory.part_filled(), 1);
    init_barrier(memory.part_emptied(), R::groups * 4);
'''),
('''    for (int index = first; index < tiles; index += stride) {
      sums.template multiply_all<kFormat>(problem, memory, turn, group, thread);
''','''    u32 parity = 0;
    for (int index = first; index < tiles; index += stride, parity ^= 1) {
      sums.template multiply_all<kFormat>(problem, memory, turn, group, thread);
      if constexpr (R::k_parts > 1) {
        if (cluster_rank<R>() == 1) {
          sums.send_part(memory, group, thread, parity);
          continue;
        }
        sums.add_part(memory, group, thread, parity);
      }
'''),
)
sub('async.h',('''// Arrives at the same barrier of another block''','''// The same address in another block of the cluster, for stores and barriers there.
DEVICE u32 in_block(u32 address, u32 block) {
  u32 there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}

// Four floats into another block's memory; they count at its barrier when they are there.
DEVICE void store_at(u32 to, const float *four, u32 barrier) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
               "f"(four[0]), "f"(four[1]), "f"(four[2]), "f"(four[3]), "r"(barrier)
               : "memory");
}

// Arrives at the same barrier of another block'''))
sub('launch.h',('  int threads, shared_bytes, cluster;\n','  int threads, shared_bytes, cluster, sharers;\n'),
('''   Ring<wm, wn, uk, st, rm, rn>::cluster},
''','''   Ring<wm, wn, uk, st, rm, rn>::cluster,                                 \\
   Ring<wm, wn, uk, st, rm, rn>::sharers},
'''),
('block_n_of(config) * ring.cluster;','block_n_of(config) * ring.sharers;'),('tile_m / ring.cluster)','tile_m / ring.sharers)'))
sub('configs.h',('X(1, 8, 4, 12, 4, 1)','X(1, 8, 4, 10, 4, 1)'))
