// The GPU builds: what CUDA and HIP share, which is everything but the prefix of their names.
#pragma once
#include <stdio.h>

#include "host.h"

#if ON_GFX11
#define RUNTIME(name) hip##name
#else
#define RUNTIME(name) cuda##name
#endif

namespace scaled_mm {

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

#if ON_GFX11
#include "launch_gpu.h"
#else
#include "sm_90/launch.h"
#endif

namespace scaled_mm {

constexpr int kPackThreads = 256, kPackBlocks = 4096;

__global__ void __launch_bounds__(kPackThreads) pack_b(const u8 *b, u8 *packed, Packing packing) {
  const i64 bytes = packing.bytes(), step = kPackThreads * kPackBlocks;
  for (i64 place = static_cast<i64>(blockIdx.x) * kPackThreads + threadIdx.x; place < bytes; place += step)
    packed[place] = packing.byte_at(place, b);
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
  return launch_row_blocks(config, b_dtype, problem, first_row_block, end_row_block, stream);
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
// On sm_90 the packed B must not be what the kernel just before in the stream writes, unless that is scaled_mm_prepack.
EXPORTED int scaled_mm_enqueue(const scaled_mm::Call *call) {
  using namespace scaled_mm;
  const int forced = forced_config(), config = forced == kConfigCount ? call->config : forced;
  if (config < 0) return -config;
  const Problem problem = problem_of(call->a, call->b, call->bias, call->c, call->scale, call->m, call->n, call->k);
  return launch(config, call->b_dtype, problem, 0, scaled_mm_row_blocks(config, call->m),
                static_cast<RUNTIME(Stream_t)>(call->stream));
}

// Asynchronous. Writes the prepacked B, scaled_mm_packed_bytes(n, k) bytes, from B (k, n) row by row; both in device memory.
EXPORTED int scaled_mm_prepack(const void *b, void *packed, int n, int k, void *stream) {
  using namespace scaled_mm;
  if (const int error = check_extents(n, k)) return error;
  pack_b<<<kPackBlocks, kPackThreads, 0, static_cast<RUNTIME(Stream_t)>(stream)>>>(static_cast<const u8 *>(b),
                                                                                   static_cast<u8 *>(packed), Packing{n, k});
#if !ON_GFX11
  if (const int error = end_packing(static_cast<cudaStream_t>(stream))) return error;
#endif
  return checked(RUNTIME(GetLastError)());
}
