// What a kernel file asks of <hip/hip_runtime.h>, for compiling device code alone: declarations of our own, no ROCm.
#pragma once

#include "../expctl_keywords.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define __HIP_PLATFORM_AMD__ 1
#define __HIP_PLATFORM_HCC__ 1
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 4
#define HIP_VERSION_PATCH 0
#define HIP_VERSION 60400000
#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(symbol) symbol
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

// Device code only, inlined; and code for both sides.
#define EXPCTL_DEVICE static inline __attribute__((device, always_inline))
#define EXPCTL_BOTH static inline __attribute__((host, device, always_inline))

#include "hip_runtime_api.h"
#include "hip_vector_types.h"
#include "expctl_index.h"
#include "expctl_lanes.h"
#include "expctl_real.h"
#include "expctl_math.h"
#include "expctl_integers.h"
#include "expctl_atomics.h"
#include "expctl_votes.h"
#include "expctl_output.h"
