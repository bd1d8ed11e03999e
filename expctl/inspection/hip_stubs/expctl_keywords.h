// The words of HIP and CUDA, as attributes that clang knows. Every source that is inspected gets this file first, as hipcc does it.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __align__(...) __attribute__((aligned(__VA_ARGS__)))
#define __builtin_align__(...) __attribute__((aligned(__VA_ARGS__)))
#define __grid_constant__
#define __maxnreg__(registers)

// Clang's own launch_bounds is NVIDIA's and says nothing here: these are what HIP makes of one number and of two. A third counts
// the blocks of a cluster, which AMD GPUs don't have.
#define __launch_bounds__(...) EXPCTL_BOUNDS_OF(__VA_ARGS__, EXPCTL_BOUNDS_3, EXPCTL_BOUNDS_2, EXPCTL_BOUNDS_1, )(__VA_ARGS__)
#define EXPCTL_BOUNDS_OF(threads, waves, blocks, macro, ...) macro
#define EXPCTL_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define EXPCTL_BOUNDS_2(threads, waves) __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves)))
#define EXPCTL_BOUNDS_3(threads, waves, blocks) EXPCTL_BOUNDS_2(threads, waves)
