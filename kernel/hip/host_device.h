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

EXPORTED int scaled_mm_device_alloc(void **pointer, uint64_t size) {
  return scaled_mm::checked(RUNTIME(Malloc)(pointer, size));
}
EXPORTED int scaled_mm_device_free(void *pointer) { return scaled_mm::checked(RUNTIME(Free)(pointer)); }
EXPORTED int scaled_mm_device_write(void *to_device, const void *from_host, uint64_t size) {
  return scaled_mm::checked(RUNTIME(Memcpy)(to_device, from_host, size, RUNTIME(MemcpyHostToDevice)));
}
EXPORTED int scaled_mm_device_read(void *to_host, const void *from_device, uint64_t size) {
  return scaled_mm::checked(RUNTIME(Memcpy)(to_host, from_device, size, RUNTIME(MemcpyDeviceToHost)));
}
EXPORTED int scaled_mm_device_wait() { return scaled_mm::checked(RUNTIME(DeviceSynchronize)()); }

// Asynchronous. All pointers are to device memory; bias may be null.
EXPORTED int scaled_mm_launch(int config, int b_dtype, const void *a, const void *b, const void *bias, void *c,
                              float scale, int m, int n, int k, int first_row_block, int end_row_block) {
  using namespace scaled_mm;
  const Problem problem{static_cast<const u16 *>(a), static_cast<const u8 *>(b), static_cast<const u16 *>(bias),
                        static_cast<u16 *>(c),       scale,                      m,
                        n,                           k};
  if (const int error = check(config, b_dtype, problem, first_row_block, end_row_block)) return error;
  if (first_row_block == end_row_block) return kOk;
  constexpr int kMaxGridY = 65535;
  const dim3 threads(static_cast<unsigned>(kConfigs[config][0] * kConfigs[config][1] * kWaveLanes));
  for (int first = first_row_block; first < end_row_block; first += kMaxGridY) {
    const int end = first + kMaxGridY < end_row_block ? first + kMaxGridY : end_row_block;
    const Problem part = row_blocks_of(problem, config, first, end);
    const dim3 grid(static_cast<unsigned>(blocks(n, block_n_of(config))), static_cast<unsigned>(end - first));
    kKernels[config][b_dtype]<<<grid, threads>>>(part.a, part.b, part.bias, part.c, part.scale, part.m, part.n, part.k);
    if (const int error = checked(RUNTIME(GetLastError)())) return error;
  }
  return kOk;
}

// Launches `iterations` times, each between two events of its own, waits, and writes the time of each in ns.
EXPORTED int scaled_mm_device_time(int config, int b_dtype, const void *a, const void *b, const void *bias, void *c,
                                   float scale, int m, int n, int k, int iterations, int64_t *duration_ns) {
  using namespace scaled_mm;
  constexpr int kMostIterations = 256;
  if (iterations < 1 || iterations > kMostIterations) return kBadExtent;
  if (config < 0 || config >= kConfigCount) return kUnknownConfig;
  RUNTIME(Event_t) begin[kMostIterations], end[kMostIterations];
  for (int i = 0; i < iterations; ++i) {
    if (const int error = checked(RUNTIME(EventCreate)(&begin[i]))) return error;
    if (const int error = checked(RUNTIME(EventCreate)(&end[i]))) return error;
  }
  int error = kOk;
  for (int i = 0; i < iterations && error == kOk; ++i) {
    error = checked(RUNTIME(EventRecord)(begin[i], nullptr));
    if (error == kOk)
      error = scaled_mm_launch(config, b_dtype, a, b, bias, c, scale, m, n, k, 0, blocks(m, block_m_of(config)));
    if (error == kOk) error = checked(RUNTIME(EventRecord)(end[i], nullptr));
  }
  if (error == kOk) error = checked(RUNTIME(DeviceSynchronize)());
  for (int i = 0; i < iterations; ++i) {
    float duration_ms = 0.0f;
    if (error == kOk) error = checked(RUNTIME(EventElapsedTime)(&duration_ms, begin[i], end[i]));
    duration_ns[i] = static_cast<int64_t>(static_cast<double>(duration_ms) * 1e6 + 0.5);
    (void)RUNTIME(EventDestroy)(begin[i]);
    (void)RUNTIME(EventDestroy)(end[i]);
  }
  return error;
}
