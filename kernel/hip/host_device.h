// The GPU builds: what CUDA and HIP share, which is everything but the prefix of their names.
#pragma once
#include <stdio.h>

#include "host.h"
#include "kernels_gpu.h"

#if ON_GFX11
#define RUNTIME(name) hip##name
#else
#define RUNTIME(name) cuda##name
#endif

namespace scaled_mm {

using Kernel = void (*)(const u16 *, const u8 *, const u16 *, u16 *, float, int, int, int);
#define SCALED_MM_ENTRY(wm, wn, uk, st, rm, rn) \
  {scaled_mm_e4m3fn_##wm##_##wn##_##uk##_##st##_##rm##_##rn, scaled_mm_e5m2_##wm##_##wn##_##uk##_##st##_##rm##_##rn},
constexpr int kFormats = 2;
const Kernel kKernels[][kFormats] = {SCALED_MM_CONFIGS(SCALED_MM_ENTRY)};   // [config][b_dtype]

inline RUNTIME(Error_t) &last_error() {
  static RUNTIME(Error_t) error = RUNTIME(Success);
  return error;
}

inline int checked(RUNTIME(Error_t) error) {
  if (error == RUNTIME(Success)) return kOk;
  last_error() = error;
  return kDeviceError;
}

}  // namespace scaled_mm

EXPORTED int scaled_mm_machine() { return ON_GFX11 ? scaled_mm::kHip : scaled_mm::kCuda; }

// The text of the last device error of this process.
EXPORTED const char *scaled_mm_device_error() { return RUNTIME(GetErrorString)(scaled_mm::last_error()); }

EXPORTED int scaled_mm_device_open(int ordinal) { return scaled_mm::checked(RUNTIME(SetDevice)(ordinal)); }

// Writes the marketing name and the number of compute units.
EXPORTED int scaled_mm_device_describe(int ordinal, char *name, int name_size, int *compute_units) {
  RUNTIME(DeviceProp_t) properties;
  if (const int error = scaled_mm::checked(RUNTIME(GetDeviceProperties)(&properties, ordinal))) return error;
  snprintf(name, static_cast<size_t>(name_size), "%s", properties.name);
  *compute_units = properties.multiProcessorCount;
  return scaled_mm::kOk;
}

namespace scaled_mm {

// Asynchronous: row blocks [first_row_block, end_row_block) of a problem in device memory.
inline int launch(int config, int b_dtype, const Problem &problem, int first_row_block, int end_row_block,
                  RUNTIME(Stream_t) stream) {
  if (const int error = check(config, b_dtype, problem, first_row_block, end_row_block)) return error;
  if (first_row_block == end_row_block) return kOk;
  constexpr int kMaxGridY = 65535;
  const dim3 threads(static_cast<unsigned>(kConfigs[config][0] * kConfigs[config][1] * kWaveLanes));
  for (int first = first_row_block; first < end_row_block; first += kMaxGridY) {
    const int end = first + kMaxGridY < end_row_block ? first + kMaxGridY : end_row_block;
    const Problem part = row_blocks_of(problem, config, first, end);
    const dim3 grid(static_cast<unsigned>(blocks(part.n, block_n_of(config))), static_cast<unsigned>(end - first));
    kKernels[config][b_dtype]<<<grid, threads, 0, stream>>>(part.a, part.b, part.bias, part.c, part.scale, part.m, part.n,
                                                            part.k);
    if (const int error = checked(RUNTIME(GetLastError)())) return error;
  }
  return kOk;
}

inline Problem problem_of(const void *a, const void *b, const void *bias, void *c, float scale, int m, int n, int k) {
  return {static_cast<const u16 *>(a), static_cast<const u8 *>(b), static_cast<const u16 *>(bias), static_cast<u16 *>(c),
          scale, m, n, k};
}

}  // namespace scaled_mm

// Asynchronous, on the default stream. All pointers are to device memory; bias may be null.
EXPORTED int scaled_mm_launch(int config, int b_dtype, const void *a, const void *b, const void *bias, void *c,
                              float scale, int m, int n, int k, int first_row_block, int end_row_block) {
  using namespace scaled_mm;
  return launch(config, b_dtype, problem_of(a, b, bias, c, scale, m, n, k), first_row_block, end_row_block, nullptr);
}

// Asynchronous, on a stream of the current device: all of C, by the config of HIP_FORCE_CONFIG or else that of the call.
EXPORTED int scaled_mm_enqueue(const scaled_mm::Call *call) {
  using namespace scaled_mm;
  const int forced = forced_config(), config = forced == kConfigCount ? call->config : forced;
  if (config < 0) return -config;
  const Problem problem = problem_of(call->a, call->b, call->bias, call->c, call->scale, call->m, call->n, call->k);
  return launch(config, call->b_dtype, problem, 0, scaled_mm_row_blocks(config, call->m),
                static_cast<RUNTIME(Stream_t)>(call->stream));
}
