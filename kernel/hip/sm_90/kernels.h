// One __global__ entry per config and fp8 format, named scaled_mm_<format>_<config>, for example scaled_mm_e5m2_1_8_2_2_8_2.
#pragma once
#include "block.h"
#include "ring.h"
#include "tile.h"

#define SCALED_MM_KERNEL(format_name, format, wm, wn, uk, st, rm, rn)                                                      \
  extern "C" __global__ void __launch_bounds__(wm * wn * 32)                                                               \
      scaled_mm_##format_name##_##wm##_##wn##_##uk##_##st##_##rm##_##rn(                                                   \
          const scaled_mm::u16 *a, const scaled_mm::u8 *b, const scaled_mm::u16 *bias, scaled_mm::u16 *c, float scale, int m, \
          int n, int k) {                                                                                                  \
    using Config = scaled_mm::Config<wm, wn, uk, st, rm, rn>;                                                              \
    SHARED scaled_mm::Slices<Config> slices;                                                                               \
    scaled_mm::run_block([&] {                                                                                             \
      scaled_mm::compute_tile<Config, format>({a, b, bias, c, scale, m, n, k}, scaled_mm::block_id(), slices);             \
    });                                                                                                                    \
  }
#define SCALED_MM_RING_KERNEL(format_name, format, wm, wn, uk, st, rm, rn)                                                 \
  extern "C" __global__ void __launch_bounds__((scaled_mm::Ring<wm, wn, uk, st, rm, rn>::threads), 1)                      \
      scaled_mm_##format_name##_##wm##_##wn##_##uk##_##st##_##rm##_##rn(const __grid_constant__ CUtensorMap map_a,         \
                                                                        const __grid_constant__ CUtensorMap map_c,         \
                                                                        const scaled_mm::Problem problem, bool boxes) {    \
    extern __shared__ scaled_mm::u8 raw[];                                                                                 \
    using Ring = scaled_mm::Ring<wm, wn, uk, st, rm, rn>;                                                                  \
    scaled_mm::run_block(                                                                                                  \
        [&] { scaled_mm::compute_ring_tiles<Ring, format>(&map_a, boxes ? &map_c : nullptr, problem, raw); });             \
  }

#define SCALED_MM_OF_FORMATS(KERNEL, ...)         \
  KERNEL(e5m2, scaled_mm::kE5m2, __VA_ARGS__)     \
  KERNEL(e4m3fn, scaled_mm::kE4m3fn, __VA_ARGS__)
#define SCALED_MM_KERNELS(...) SCALED_MM_OF_FORMATS(SCALED_MM_KERNEL, __VA_ARGS__)
#define SCALED_MM_RING_KERNELS(...) SCALED_MM_OF_FORMATS(SCALED_MM_RING_KERNEL, __VA_ARGS__)

SCALED_MM_RING_CONFIGS(SCALED_MM_RING_KERNELS)
SCALED_MM_MMA_CONFIGS(SCALED_MM_KERNELS)
