// Who am I, and barriers.
#pragma once

// Properties read like the built-in variables of the language and cost nothing where they are not read.
#define EXPCTL_COORDINATES(name, X, Y, Z) \
    struct name { \
        __declspec(property(get = get_x)) unsigned x; \
        __declspec(property(get = get_y)) unsigned y; \
        __declspec(property(get = get_z)) unsigned z; \
        __device__ static inline unsigned get_x() { return X; } \
        __device__ static inline unsigned get_y() { return Y; } \
        __device__ static inline unsigned get_z() { return Z; } \
        __device__ operator dim3() const { return dim3(X, Y, Z); } \
    }
// The hidden arguments of code object version 5 and later begin with the number of workgroups on each axis, then their sizes.
#define EXPCTL_HIDDEN(type, byte) \
    (*(const __attribute__((address_space(4))) type *)((const __attribute__((address_space(4))) char *)__builtin_amdgcn_implicitarg_ptr() + byte))

EXPCTL_COORDINATES(expctl_thread_index, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z());
EXPCTL_COORDINATES(expctl_block_index, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z());
EXPCTL_COORDINATES(expctl_block_size, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_workgroup_size_z());
EXPCTL_COORDINATES(expctl_grid_size, EXPCTL_HIDDEN(unsigned, 0), EXPCTL_HIDDEN(unsigned, 4), EXPCTL_HIDDEN(unsigned, 8));

extern const __device__ __attribute__((weak)) expctl_thread_index threadIdx;
extern const __device__ __attribute__((weak)) expctl_block_index blockIdx;
extern const __device__ __attribute__((weak)) expctl_block_size blockDim;
extern const __device__ __attribute__((weak)) expctl_grid_size gridDim;

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

struct expctl_warp_size {
    __device__ constexpr operator int() const { return __builtin_amdgcn_wavefrontsize(); }
};
static constexpr expctl_warp_size warpSize{};

EXPCTL_DEVICE void __syncthreads() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
EXPCTL_DEVICE void __syncwarp(unsigned long long = ~0ull) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
EXPCTL_DEVICE void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
EXPCTL_DEVICE void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
EXPCTL_DEVICE void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }
