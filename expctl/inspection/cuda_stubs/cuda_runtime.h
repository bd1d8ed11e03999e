// What a CUDA source finds as <cuda_runtime.h> when clang compiles its device code, to compare what changes do: the toolkit's
// own types and functions of the host, and of the device what the language has built in. Nothing is linked: what an intrinsic
// computes needn't be known, only that it is the same one.
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __grid_constant__ __attribute__((grid_constant))
// Not __maxnreg__, __cluster_dims__ and __block_size__: clang has no word for them, so nvcc's PTX tells what such a source is.

#include <cuda_runtime_api.h>
#include <vector_functions.h>
#undef __maxnreg__   // the toolkit's headers have words for them that clang leaves out
#undef __cluster_dims__
#undef __block_size__

#define __CUDACC__ 1   // not before: the toolkit's headers would take clang for nvcc
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)

#include "expctl_index.h"
#include "expctl_intrinsics.h"

// Templates of the host, which are compiled for no device.
template <class... Takes, class... Given>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *, void (*)(Takes...), Given &&...) {
  return cudaSuccess;
}
template <class T>
inline cudaError_t cudaFuncSetAttribute(T *function, cudaFuncAttribute which, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void *>(function), which, value);
}
template <class T>
inline cudaError_t cudaFuncSetCacheConfig(T *function, cudaFuncCache config) {
  return cudaFuncSetCacheConfig(reinterpret_cast<const void *>(function), config);
}
template <class T>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *found, T *function) {
  return cudaFuncGetAttributes(found, reinterpret_cast<const void *>(function));
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveClusters(int *count, T *function, const cudaLaunchConfig_t *launch) {
  return cudaOccupancyMaxActiveClusters(count, reinterpret_cast<const void *>(function), launch);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, T function, int threads, size_t bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(count, reinterpret_cast<const void *>(function), threads, bytes);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *, int *, T, size_t = 0, int = 0) {
  return cudaSuccess;
}
template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T *function, dim3 grid, dim3 block, void **given, size_t bytes = 0,
                                               cudaStream_t stream = 0) {
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(function), grid, block, given, bytes, stream);
}
template <class T>
inline cudaError_t cudaMalloc(T **place, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void **>(place), bytes);
}
template <class T>
inline cudaError_t cudaMallocHost(T **place, size_t bytes, unsigned flags = 0) {
  return cudaHostAlloc(reinterpret_cast<void **>(place), bytes, flags);
}
template <class T>
inline cudaError_t cudaMallocManaged(T **place, size_t bytes, unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(reinterpret_cast<void **>(place), bytes, flags);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol(reinterpret_cast<const void *>(&symbol), from, bytes, offset, kind);
}

extern "C" cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);   // what <<<...>>> calls
