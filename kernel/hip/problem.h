// What a launch computes.
#pragma once
#include "phases.h"

namespace scaled_mm {

// C[m,n] = half((A x B) * scale + bias); A (m, k) halves, B packed fp8 bytes (packing.h), bias (n) halves or null.
struct Problem {
  const u16 *a;
  const u8 *b;
  const u16 *bias;
  u16 *c;
  float scale;
  int m, n, k;
};

}  // namespace scaled_mm
