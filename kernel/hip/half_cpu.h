// fp16 on a CPU without instructions for it: bit arithmetic, round to nearest even. Correct on any machine, slow on all.
#pragma once
#include <string.h>

#include "phases.h"

namespace scaled_mm {

// s eeeee mmmmmmmmmm
DEVICE float half_to_float(u16 half) {
  const u32 sign = static_cast<u32>(half & 0x8000u) << 16;
  const u32 exponent = (half >> 10) & 0x1fu, mantissa = half & 0x3ffu;
  u32 bits;
  float value;
  if (exponent == 0) {   // zero or denormal: mantissa x 2^-24
    value = static_cast<float>(mantissa) * 0x1p-24f;
    memcpy(&bits, &value, sizeof(bits));
    bits |= sign;
  } else if (exponent == 31) {   // infinity or NaN
    bits = sign | 0x7f800000u | mantissa << 13;
  } else {
    bits = sign | (exponent + 112) << 23 | mantissa << 13;   // 112 = 127 - 15, the difference of the biases
  }
  memcpy(&value, &bits, sizeof(value));
  return value;
}

DEVICE u16 float_to_half(float value) {
  u32 bits;
  memcpy(&bits, &value, sizeof(bits));
  const u32 sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<u16>(sign | 0x7e00u);    // NaN
  if (magnitude >= 0x477ff000u) return static_cast<u16>(sign | 0x7c00u);   // 65520 and more round to infinity
  if (magnitude < 0x38800000u) {   // below 2^-14, the smallest normal half: adding 0.5 lets the FPU round at bit 2^-24
    float small;
    memcpy(&small, &magnitude, sizeof(small));
    small += 0.5f;
    u32 rounded;
    memcpy(&rounded, &small, sizeof(rounded));
    return static_cast<u16>(sign | (rounded - 0x3f000000u));   // 0x3f000000 = 0.5f
  }
  const u32 odd = magnitude >> 13 & 1u;
  return static_cast<u16>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));   // 0x38000000 = 112 << 23
}

}  // namespace scaled_mm
