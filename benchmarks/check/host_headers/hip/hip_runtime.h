// HIP on the host: a kernel file compiles as plain C++ with these headers, and every thread of a workgroup is a fiber.
// They follow the public description of HIP and of the instructions, and share nothing with the interpreter or its stubs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "../host_fibers.h"

#define __host__
#define __device__
#define __global__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ thread_local  // one thread of the system runs all fibers of a workgroup: they share it
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

#include "../host_atomics.h"
#include "../host_lanes.h"
#include "../host_math.h"
#include "../host_matrix.h"
