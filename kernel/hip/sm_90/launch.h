// Launches the blocks of a config; for host_device.h.
#pragma once
#include "kernels.h"
#include "tensor_map.h"

namespace scaled_mm {

constexpr int kFormats = 2;
using Kernel = void (*)(const u16 *, const u8 *, const u16 *, u16 *, float, int, int, int);
#define SCALED_MM_ENTRY(wm, wn, uk, st, rm, rn) \
  {scaled_mm_e4m3fn_##wm##_##wn##_##uk##_##st##_##rm##_##rn, scaled_mm_e5m2_##wm##_##wn##_##uk##_##st##_##rm##_##rn},
const Kernel kKernels[][kFormats] = {SCALED_MM_MMA_CONFIGS(SCALED_MM_ENTRY)};   // [config - kRingConfigs][b_dtype]

using RingKernel = void (*)(CUtensorMap, CUtensorMap, Problem, bool);
struct RingEntry {
  RingKernel kernels[kFormats];   // [b_dtype]
  int threads, shared_bytes, cluster;
};
#define SCALED_MM_RING_ENTRY(wm, wn, uk, st, rm, rn)                      \
  {{scaled_mm_e4m3fn_##wm##_##wn##_##uk##_##st##_##rm##_##rn,             \
    scaled_mm_e5m2_##wm##_##wn##_##uk##_##st##_##rm##_##rn},              \
   Ring<wm, wn, uk, st, rm, rn>::threads,                                 \
   Ring<wm, wn, uk, st, rm, rn>::shared_bytes,                            \
   Ring<wm, wn, uk, st, rm, rn>::cluster},
const RingEntry kRings[] = {SCALED_MM_RING_CONFIGS(SCALED_MM_RING_ENTRY){}};   // and one that is none: a list is never empty

inline cudaLaunchAttribute cluster_of(const RingEntry &ring) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(ring.cluster);
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  return attribute;
}

// A ring reads B as soon as the launch before it has begun. What packs B is followed by this one, which like any plain launch
// begins when all before it has ended and is seen: so a ring reads no B that is still being packed.
__global__ void launch_nothing() {}
inline int end_packing(cudaStream_t stream) {
  launch_nothing<<<1, 1, 0, stream>>>();
  return checked(cudaGetLastError());
}

// The kernel itself waits for the one before in the stream (wait_for_launch_before), also in a graph.
inline cudaLaunchAttribute begins_early() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

inline cudaLaunchConfig_t launch_of(const RingEntry &ring, int clusters, cudaLaunchAttribute *attributes, int count,
                                    cudaStream_t stream) {
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(static_cast<unsigned>(clusters * ring.cluster));
  launch.blockDim = dim3(static_cast<unsigned>(ring.threads));
  launch.dynamicSmemBytes = static_cast<size_t>(ring.shared_bytes);
  launch.stream = stream;
  launch.attrs = attributes;
  launch.numAttrs = static_cast<unsigned>(count);
  return launch;
}

inline int launch_mma(int config, int b_dtype, const Problem &problem, cudaStream_t stream) {
  constexpr int kMaxGridY = 65535;
  const dim3 threads(static_cast<unsigned>(kConfigs[config][0] * kConfigs[config][1] * kWaveLanes));
  const int rows = blocks(problem.m, block_m_of(config));
  for (int first = 0; first < rows; first += kMaxGridY) {
    const int end = first + kMaxGridY < rows ? first + kMaxGridY : rows;
    const Problem part = row_blocks_of(problem, config, first, end);
    const dim3 grid(static_cast<unsigned>(blocks(problem.n, block_n_of(config))), static_cast<unsigned>(end - first));
    const Kernel kernel = kKernels[config - kRingConfigs][b_dtype];
    kernel<<<grid, threads, 0, stream>>>(part.a, part.b, part.bias, part.c, part.scale, part.m, part.n, part.k);
    if (const int error = checked(cudaGetLastError())) return error;
  }
  return kOk;
}

// How many clusters of a ring fit on the current device at once: some groups of multiprocessors may hold an odd number.
// Asked once, since the answer takes microseconds; also lets the kernel have its shared memory.
inline int clusters_at_once(int config, int b_dtype, int *clusters) {
  constexpr int kDevices = 64;
  static int known[sizeof(kRings) / sizeof(kRings[0])][kFormats][kDevices] = {};   // 0: not asked
  int device, processors;
  if (const int error = checked(cudaGetDevice(&device))) return error;
  int *const place = device < kDevices ? &known[config][b_dtype][device] : nullptr;
  if (place != nullptr && *place != 0) {
    *clusters = *place;
    return kOk;
  }
  const RingEntry &ring = kRings[config];
  const RingKernel kernel = ring.kernels[b_dtype];
  if (const int error = checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, ring.shared_bytes)))
    return error;
  if (const int error = checked(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device))) return error;
  cudaLaunchAttribute attribute = cluster_of(ring);
  const cudaLaunchConfig_t launch = launch_of(ring, processors / ring.cluster, &attribute, 1, nullptr);
  if (const int error = checked(cudaOccupancyMaxActiveClusters(clusters, kernel, &launch))) return error;
  if (*clusters < 1) return checked(cudaErrorLaunchOutOfResources);
  if (place != nullptr) *place = *clusters;
  return kOk;
}

inline int launch_ring(int config, int b_dtype, const Problem &problem, cudaStream_t stream) {
  const RingEntry &ring = kRings[config];
  const int tile_m = block_m_of(config), tile_n = block_n_of(config) * ring.cluster;
  const bool boxes = can_be_boxed(problem.c, problem.n);   // else C is stored half by half
  CUtensorMap map_a, map_c{};
  if (const int error = checked(describe_matrix(&map_a, problem.a, problem.k, problem.m, tile_m / ring.cluster))) return error;
  if (boxes)
    if (const int error = checked(describe_matrix(&map_c, problem.c, problem.n, problem.m, tile_m))) return error;
  int fit;
  if (const int error = clusters_at_once(config, b_dtype, &fit)) return error;
  const int tiles = blocks(problem.m, tile_m) * blocks(problem.n, tile_n);
  cudaLaunchAttribute attributes[] = {cluster_of(ring), begins_early()};
  const int count = ring.cluster == 1 ? 2 : 1;   // products by clusters take long: the end of the one before is no matter
  const cudaLaunchConfig_t launch = launch_of(ring, tiles < fit ? tiles : fit, attributes, count, stream);
  return checked(cudaLaunchKernelEx(&launch, ring.kernels[b_dtype], map_a, map_c, problem, boxes));
}

// Computes the given row blocks, which are at least one. Where the rows of A are no boxes, mma.sync does it.
inline int launch_row_blocks(int config, int b_dtype, const Problem &problem, int first_row_block, int end_row_block,
                             cudaStream_t stream) {
  const Problem part = row_blocks_of(problem, config, first_row_block, end_row_block);
  if (config >= kRingConfigs) return launch_mma(config, b_dtype, part, stream);
  if (!can_be_boxed(problem.a, problem.k)) return launch_mma(pick_mma_config(problem.m, problem.n), b_dtype, part, stream);
  return launch_ring(config, b_dtype, part, stream);
}

}  // namespace scaled_mm
