// The accumulators of one wave on a GPU, repeat_m x repeat_n fragments, and the loop over one slice.
#pragma once
#include "stage.h"
#if ON_GFX11
#include "fragment_gfx11.h"
#include "slices_gfx11.h"
#else
#include "sm_90/fragment.h"
#include "sm_90/slices.h"
#endif

namespace scaled_mm {

template <class C, Fp8 kFormat>
struct WaveTile {
  FragmentC sums[C::repeat_m][C::repeat_n];

  METHOD void clear_all() {
#pragma unroll
    for (int i = 0; i < C::repeat_m; ++i)
#pragma unroll
      for (int j = 0; j < C::repeat_n; ++j) clear(sums[i][j]);
  }

  // Adds slice_k of the product. The upcast of B happens here, once per fragment and wave, and feeds repeat_m products.
  METHOD void multiply(const typename Slices<C>::Slice &slice, int wave) { multiply(slice, View<C>(wave)); }

  METHOD void multiply(const typename Slices<C>::Slice &slice, const View<C> &view) {
    // 128 VGPRs of sums, 16 of b and 8 of a leave none for the next a: without the order its loads are hoisted all the same,
    // at the price of occupancy. Other waves fill the gap.
    constexpr bool kNoSpareRegisters = C::repeat_m * C::repeat_n * kSumsPerLane >= 128;
#pragma unroll
    for (int k16 = 0; k16 < C::slice_k / kFragment; ++k16) {
      FragmentB b[C::repeat_n];
#pragma unroll
      for (int j = 0; j < C::repeat_n; ++j) b[j] = load_b<kFormat>(view.b(slice, k16, j));
#pragma unroll
      for (int i = 0; i < C::repeat_m; ++i) {
        const FragmentA a = load_a(view.a(slice, 2 * k16, i), view.a(slice, 2 * k16 + 1, i));
#pragma unroll
        for (int j = 0; j < C::repeat_n; ++j) multiply_add(sums[i][j], a, b[j]);
        if constexpr (kNoSpareRegisters) keep_order();
      }
    }
  }

  METHOD void write(const Problem &problem, const Corner &corner, int wave) const {
    const int first_m = wave / C::warps_n * C::wave_m, first_n = wave % C::warps_n * C::wave_n;
    u16 *const c = problem.c + static_cast<i64>(corner.m) * problem.n + corner.n;
#pragma unroll
    for (int j = 0; j < C::repeat_n; ++j) {
      const int n = first_n + j * kFragment;
      float bias[kSumsPerLane] = {};   // before the stores, which the compiler must assume to change it
      if (problem.bias)
#pragma unroll
        for (int s = 0; s < kSumsPerLane; ++s)
          bias[s] = half_to_float(problem.bias[corner.n + at_most(n + sum_column(s), corner.last_n)]);
#pragma unroll
      for (int i = 0; i < C::repeat_m; ++i)
#pragma unroll
        for (int s = 0; s < kSumsPerLane; ++s) {
          const int row = first_m + i * kFragment + sum_row(s), column = n + sum_column(s);
          if (row <= corner.last_m && column <= corner.last_n)
            c[static_cast<u32>(row) * static_cast<u32>(problem.n) + static_cast<u32>(column)] =
                float_to_half(sums[i][j].value[s] * problem.scale + bias[s]);
        }
    }
  }
};

}  // namespace scaled_mm
