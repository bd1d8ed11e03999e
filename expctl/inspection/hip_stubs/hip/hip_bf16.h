// bfloat16 under the names of <hip/hip_bf16.h>.
#pragma once

#include "hip_bfloat16.h"

typedef hip_bfloat16 __hip_bfloat16;
struct __attribute__((may_alias)) alignas(4) __hip_bfloat162 {
    __hip_bfloat16 x, y;
};
static_assert(sizeof(__hip_bfloat16) == 2 && sizeof(__hip_bfloat162) == 4, "memory is read through these types");

EXPCTL_BOTH __hip_bfloat16 __float2bfloat16(float a) { return __hip_bfloat16(a); }
EXPCTL_BOTH __hip_bfloat16 __float2bfloat16_rn(float a) { return __hip_bfloat16(a); }
EXPCTL_BOTH float __bfloat162float(__hip_bfloat16 a) { return float(a); }
EXPCTL_BOTH __hip_bfloat162 __floats2bfloat162_rn(float a, float b) { return {__hip_bfloat16(a), __hip_bfloat16(b)}; }
EXPCTL_BOTH float2 __bfloat1622float2(__hip_bfloat162 a) { return float2(float(a.x), float(a.y)); }
EXPCTL_BOTH __hip_bfloat16 __hadd(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat16(float(a) + float(b)); }
EXPCTL_BOTH __hip_bfloat16 __hsub(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat16(float(a) - float(b)); }
EXPCTL_BOTH __hip_bfloat16 __hmul(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat16(float(a) * float(b)); }
EXPCTL_BOTH __hip_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __builtin_bit_cast(__hip_bfloat16, a); }
EXPCTL_BOTH unsigned short __bfloat16_as_ushort(__hip_bfloat16 a) { return a.data; }
