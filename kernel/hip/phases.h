// One kernel source for three machines. A kernel is written as phases between barriers: on a GPU a phase is plain SIMT
// code that every thread runs; on a CPU it is a loop over the threads (or waves) of one workgroup, run to its end before
// the next phase starts, so a barrier has nothing left to do there.
//
// CPU: one call of a thread phase does the work of kLanesPerCall neighbouring threads, as many as a vector register of
// bytes holds. GPU: kLanesPerCall is 1.
#pragma once
#include "config.h"

#if defined(__HIP__)
#define ON_GFX11 1
#define ON_SM90 0
#define ON_CPU 0
#elif defined(__CUDACC__)
#define ON_GFX11 0
#define ON_SM90 1
#define ON_CPU 0
#else
#define ON_GFX11 0
#define ON_SM90 0
#define ON_CPU 1
#endif

#if ON_GFX11 && !defined(SCALED_MM_WITH_HIP_RUNTIME)
// Freestanding: no ROCm headers. The few names that clang's HIP mode leaves to them.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(threads, threads)))
#endif

namespace scaled_mm {

// From the compiler, not from a header: the freestanding build has none.
using u8 = __UINT8_TYPE__;
using u16 = __UINT16_TYPE__;
using u32 = __UINT32_TYPE__;
using i64 = __INT64_TYPE__;
using u64 = __UINT64_TYPE__;

struct BlockId {
  int m, n;   // of the workgroup, in tiles
};

}  // namespace scaled_mm

#if ON_CPU

#define DEVICE static inline __attribute__((always_inline))
#define METHOD inline __attribute__((always_inline))
#define SHARED alignas(64)   // an ordinary local: one workgroup is one call on one thread
#define FOR_EACH_THREAD(thread, threads) for (int thread = 0; thread < (threads); thread += ::scaled_mm::kLanesPerCall)
#define FOR_EACH_WAVE(wave, waves) for (int wave = 0; wave < (waves); ++wave)
#define PER_THREAD(type, name, threads) type name[(threads) / ::scaled_mm::kLanesPerCall]
#define PER_WAVE(type, name, waves) alignas(64) type name[waves]
#define OF_THREAD(name, thread) name[(thread) / ::scaled_mm::kLanesPerCall]
#define OF_WAVE(name, wave) name[wave]
#define BARRIER() ((void)0)
#define UNROLL_ON_GPU   // a CPU build that unrolls its copies too takes twice as long to compile and is no faster

namespace scaled_mm {
constexpr int kLanesPerCall = 16;
constexpr bool kPrefetch = false;          // staging a chunk through memory would only copy it once more
constexpr bool kUnalignedPieces = true;    // any address serves a 16-byte load
}  // namespace scaled_mm

#else

#define DEVICE __device__ static inline __attribute__((always_inline))
#define METHOD __device__ inline __attribute__((always_inline))
#define SHARED __shared__
#define FOR_EACH_THREAD(thread, threads) if (const int thread = ::scaled_mm::thread_index(); true)
#define FOR_EACH_WAVE(wave, waves) \
  if ([[maybe_unused]] const int wave = ::scaled_mm::wave_index(); true)
#define PER_THREAD(type, name, threads) type name
#define PER_WAVE(type, name, waves) type name
#define OF_THREAD(name, thread) name
#define OF_WAVE(name, wave) name
#define UNROLL_ON_GPU _Pragma("unroll")

namespace scaled_mm {
constexpr int kLanesPerCall = 1;
constexpr bool kPrefetch = true;           // hides the latency of global memory behind the multiplication
constexpr bool kUnalignedPieces = false;
}  // namespace scaled_mm

#if ON_GFX11
// Release before and acquire after: LDS writes are visible to the workgroup before any wave passes. "local": no wave reads from
// memory what another one wrote there, so that loads from memory may stay under way and the cache need not forget.
#define BARRIER()                                                    \
  do {                                                               \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");  \
    __builtin_amdgcn_s_barrier();                                    \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");  \
  } while (0)
namespace scaled_mm {
DEVICE int thread_index() { return static_cast<int>(__builtin_amdgcn_workitem_id_x()); }
// Said to be the same for all lanes: what follows from it is scalar.
DEVICE int wave_index() { return static_cast<int>(__builtin_amdgcn_readfirstlane(thread_index() / kWaveLanes)); }
DEVICE BlockId block_id() {
  return {static_cast<int>(__builtin_amdgcn_workgroup_id_y()), static_cast<int>(__builtin_amdgcn_workgroup_id_x())};
}
}  // namespace scaled_mm
#else
#define BARRIER() __syncthreads()
namespace scaled_mm {
DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
DEVICE int wave_index() { return thread_index() / kWaveLanes; }
DEVICE BlockId block_id() { return {static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.x)}; }
}  // namespace scaled_mm
#endif

#endif
