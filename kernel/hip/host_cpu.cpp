// The CPU build. No threads of its own: a caller that wants more than one gives each a range of row blocks.
#include "host.h"
#include "scaled_mm.h"

EXPORTED int scaled_mm_machine() { return scaled_mm::kCpu; }

namespace scaled_mm {

template <class C, Fp8 kFormat>
__attribute__((noinline)) void compute_all(const Problem &problem) {
  SHARED Slices<C> slices;
  for (int m = 0; m < blocks(problem.m, C::block_m); ++m)
    for (int n = 0; n < blocks(problem.n, C::block_n); ++n) compute_tile<C, kFormat>(problem, {m, n}, slices);
}

using ComputeAll = void (*)(const Problem &);
#define SCALED_MM_ENTRY(...) {compute_all<Config<__VA_ARGS__>, kE4m3fn>, compute_all<Config<__VA_ARGS__>, kE5m2>},
constexpr ComputeAll kComputeAll[][2] = {SCALED_MM_CONFIGS(SCALED_MM_ENTRY)};   // [config][b_dtype]

}  // namespace scaled_mm

// bias may be null. All pointers are to host memory; see stage.h for the layouts.
EXPORTED int scaled_mm_launch(int config, int b_dtype, const void *a, const void *b, const void *bias, void *c,
                              float scale, int m, int n, int k, int first_row_block, int end_row_block) {
  using namespace scaled_mm;
  const Problem problem{static_cast<const u16 *>(a), static_cast<const u8 *>(b), static_cast<const u16 *>(bias),
                        static_cast<u16 *>(c),       scale,                      m,
                        n,                           k};
  if (const int error = check(config, b_dtype, problem, first_row_block, end_row_block)) return error;
  if (first_row_block < end_row_block)
    kComputeAll[config][b_dtype](row_blocks_of(problem, config, first_row_block, end_row_block));
  return kOk;
}

// Writes the prepacked B, scaled_mm_packed_bytes(n, k) bytes, from B (k, n) row by row. `stream` is for GPUs.
EXPORTED int scaled_mm_prepack(const void *b, void *packed, int n, int k, void * /* stream */) {
  using namespace scaled_mm;
  if (const int error = check_extents(n, k)) return error;
  const Packing packing{n, k};
  for (i64 place = 0; place < packing.bytes(); ++place)
    static_cast<u8 *>(packed)[place] = packing.byte_at(place, static_cast<const u8 *>(b));
  return kOk;
}
