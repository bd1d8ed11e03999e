// Launches one block for each tile of C; for host_device.h.
#pragma once
#include "kernels_gpu.h"

namespace scaled_mm {

using Kernel = void (*)(const u16 *, const u8 *, const u16 *, u16 *, float, int, int, int);
#define SCALED_MM_ENTRY(wm, wn, uk, st, rm, rn) \
  {scaled_mm_e4m3fn_##wm##_##wn##_##uk##_##st##_##rm##_##rn, scaled_mm_e5m2_##wm##_##wn##_##uk##_##st##_##rm##_##rn},
constexpr int kFormats = 2;
const Kernel kKernels[][kFormats] = {SCALED_MM_CONFIGS(SCALED_MM_ENTRY)};   // [config][b_dtype]

// Computes the given row blocks, which are at least one.
inline int launch_row_blocks(int config, int b_dtype, const Problem &problem, int first_row_block, int end_row_block,
                             RUNTIME(Stream_t) stream) {
  constexpr int kMaxGridY = 65535;
  const dim3 threads(static_cast<unsigned>(kConfigs[config][0] * kConfigs[config][1] * kWaveLanes));
  for (int first = first_row_block; first < end_row_block; first += kMaxGridY) {
    const int end = first + kMaxGridY < end_row_block ? first + kMaxGridY : end_row_block;
    const Problem part = row_blocks_of(problem, config, first, end);
    const dim3 grid(static_cast<unsigned>(blocks(problem.n, block_n_of(config))), static_cast<unsigned>(end - first));
    kKernels[config][b_dtype]<<<grid, threads, 0, stream>>>(part.a, part.b, part.bias, part.c, part.scale, part.m, part.n,
                                                            part.k);
    if (const int error = checked(RUNTIME(GetLastError)())) return error;
  }
  return kOk;
}

}  // namespace scaled_mm
