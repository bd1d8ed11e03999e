// The C interface that every build exports. tests, benchmark and profile drive any of them through ctypes.
// A function that can fail returns an ErrorCode (0 is success); config_for returns an index, or a negated ErrorCode.
#pragma once
#include <stdint.h>
#include <stdlib.h>

#include "config.h"
#include "fp8.h"
#include "packing.h"
#include "problem.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace scaled_mm {

constexpr int kAbiVersion = 2;
enum Machine : int { kCpu = 0, kCuda = 1, kHip = 2 };
enum ErrorCode : int {
  kOk = 0,
  kUnknownConfig = 1,
  kUnknownFormat = 2,
  kBadExtent = 3,
  kMisalignedB = 4,
  kBadRowBlocks = 5,
  kDeviceError = 6,
  kUnreadableConfig = 7,
};

constexpr int kTupleLength = 6;
#define SCALED_MM_TUPLE(...) {__VA_ARGS__},
constexpr int kConfigs[][kTupleLength] = {SCALED_MM_CONFIGS(SCALED_MM_TUPLE)};
constexpr int kConfigCount = sizeof(kConfigs) / sizeof(kConfigs[0]);

inline int block_m_of(int config) { return kFragment * kConfigs[config][0] * kConfigs[config][4]; }
inline int block_n_of(int config) { return kFragment * kConfigs[config][1] * kConfigs[config][5]; }
inline int blocks(int extent, int block) { return (extent + block - 1) / block; }

// The config of HIP_FORCE_CONFIG, kConfigCount if it is not set. Read anew at each call: a forced config is never
// served from a cache of another.
inline int forced_config() {
  const char *text = getenv("HIP_FORCE_CONFIG");
  if (text == nullptr || *text == 0) return kConfigCount;
  int tuple[kTupleLength];
  for (int i = 0; i < kTupleLength; ++i) {
    char *end;
    tuple[i] = static_cast<int>(strtol(text, &end, 10));
    if (end == text || *end != (i + 1 < kTupleLength ? ',' : 0)) return -kUnreadableConfig;
    text = end + 1;
  }
  for (int config = 0; config < kConfigCount; ++config) {
    int same = 0;
    for (int i = 0; i < kTupleLength; ++i) same += kConfigs[config][i] == tuple[i];
    if (same == kTupleLength) return config;
  }
  return -kUnknownConfig;
}

}  // namespace scaled_mm

#if ON_SM90
#include "sm_90/choose.h"
#else
#include "choose.h"
#endif

namespace scaled_mm {

inline int check(int config, int b_dtype, const Problem &problem, int first_row_block, int end_row_block) {
  if (config < 0 || config >= kConfigCount) return kUnknownConfig;
  if (b_dtype != kE5m2 && b_dtype != kE4m3fn) return kUnknownFormat;
  const int extents[] = {problem.m, problem.n, problem.k};
  for (const int extent : extents)
    if (extent < 1 || extent > kMaxExtent) return kBadExtent;
  if (!kUnalignedPieces && reinterpret_cast<uintptr_t>(problem.b) % kPieceBytes != 0) return kMisalignedB;
  if (first_row_block < 0 || end_row_block > blocks(problem.m, block_m_of(config)) || first_row_block > end_row_block)
    return kBadRowBlocks;
  return kOk;
}

inline int check_extents(int n, int k) { return n < 1 || n > kMaxExtent || k < 1 || k > kMaxExtent ? kBadExtent : kOk; }

// What scaled_mm_enqueue of a GPU build takes. One argument costs a Python caller a third of what twelve do.
struct Call {
  int config, b_dtype;
  const void *a, *b, *bias;
  void *c;
  float scale;
  int m, n, k;
  void *stream;
};

// The part of a problem that lies in the given row blocks, as a problem of its own.
inline Problem row_blocks_of(const Problem &problem, int config, int first_row_block, int end_row_block) {
  Problem part = problem;
  const i64 first = static_cast<i64>(first_row_block) * block_m_of(config);
  const i64 end = static_cast<i64>(end_row_block) * block_m_of(config);
  part.a += first * problem.k;
  part.c += first * problem.n;
  part.m = static_cast<int>((end < problem.m ? end : problem.m) - first);
  return part;
}

}  // namespace scaled_mm

EXPORTED int scaled_mm_abi_version() { return scaled_mm::kAbiVersion; }
EXPORTED int scaled_mm_config_count() { return scaled_mm::kConfigCount; }

// Writes (warps_m, warps_n, unroll_k, stages, repeat_m, repeat_n).
EXPORTED int scaled_mm_config(int config, int *tuple) {
  if (config < 0 || config >= scaled_mm::kConfigCount) return scaled_mm::kUnknownConfig;
  for (int i = 0; i < scaled_mm::kTupleLength; ++i) tuple[i] = scaled_mm::kConfigs[config][i];
  return scaled_mm::kOk;
}

EXPORTED int scaled_mm_row_blocks(int config, int m) {
  if (config < 0 || config >= scaled_mm::kConfigCount) return -scaled_mm::kUnknownConfig;
  return scaled_mm::blocks(m, scaled_mm::block_m_of(config));
}

// HIP_FORCE_CONFIG, or what suits the shape.
EXPORTED int scaled_mm_config_for(int m, int n) {
  const int forced = scaled_mm::forced_config();
  return forced == scaled_mm::kConfigCount ? scaled_mm::pick_config(m, n) : forced;
}

// The size of the prepacked B; 0 for extents that a launch would refuse.
EXPORTED long long scaled_mm_packed_bytes(int n, int k) {
  return scaled_mm::check_extents(n, k) ? 0 : scaled_mm::Packing{n, k}.bytes();
}

EXPORTED const char *scaled_mm_error_text(int error) {
  switch (error) {
    case scaled_mm::kOk: return "success";
    case scaled_mm::kUnknownConfig: return "this build has no such config";
    case scaled_mm::kUnknownFormat: return "b_dtype is 0 (e4m3fn) or 1 (e5m2)";
    case scaled_mm::kBadExtent: return "M, N and K are 1 to 4194304";
    case scaled_mm::kMisalignedB: return "the prepacked B must be aligned to 16 bytes";
    case scaled_mm::kBadRowBlocks: return "the row blocks are not a range within the matrix";
    case scaled_mm::kDeviceError: return "the device reported an error; see scaled_mm_device_error";
    case scaled_mm::kUnreadableConfig: return "HIP_FORCE_CONFIG is six numbers, such as 1,8,2,2,8,2";
    default: return "unknown error code";
  }
}
