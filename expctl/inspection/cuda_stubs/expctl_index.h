// threadIdx and its like, as the special registers that they are.
#pragma once

#define EXPCTL_MEMBER(name, which)                       \
  __declspec(property(get = get_##name)) unsigned name; \
  __device__ unsigned get_##name() const { return __nvvm_read_ptx_sreg_##which##_##name(); }
#define EXPCTL_INDEX(type, name, which)                                                        \
  struct type {                                                                                \
    EXPCTL_MEMBER(x, which)                                                                    \
    EXPCTL_MEMBER(y, which)                                                                    \
    EXPCTL_MEMBER(z, which)                                                                    \
    __device__ operator dim3() const { return dim3{get_x(), get_y(), get_z()}; }               \
    __device__ operator uint3() const { return uint3{get_x(), get_y(), get_z()}; }             \
  };                                                                                           \
  extern const __device__ __attribute__((weak)) type name;

EXPCTL_INDEX(ExpctlThreadIdx, threadIdx, tid)
EXPCTL_INDEX(ExpctlBlockIdx, blockIdx, ctaid)
EXPCTL_INDEX(ExpctlBlockDim, blockDim, ntid)
EXPCTL_INDEX(ExpctlGridDim, gridDim, nctaid)
#define warpSize 32
