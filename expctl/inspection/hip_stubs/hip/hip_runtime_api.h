// The host's half of HIP, declared so that the host functions of a kernel file parse. Nothing here is ever linked.
#pragma once

#include "../expctl_keywords.h"

#include <cstddef>

enum hipError_t { hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorOutOfMemory = 2, hipErrorNotReady = 600, hipErrorUnknown = 999 };
enum hipMemcpyKind { hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice, hipMemcpyDefault };
enum hipFuncAttribute { hipFuncAttributeMaxDynamicSharedMemorySize = 8, hipFuncAttributePreferredSharedMemoryCarveout = 9 };
enum { hipEventDefault = 0, hipEventBlockingSync = 1, hipEventDisableTiming = 2, hipStreamDefault = 0, hipStreamNonBlocking = 1 };
enum { hipHostMallocDefault = 0 };
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;

struct dim3 {
    unsigned x, y, z;
    constexpr __host__ __device__ dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

struct hipDeviceProp_t {
    char name[256];
    char gcnArchName[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, multiProcessorCount, major, minor;
    int memoryClockRate, memoryBusWidth, l2CacheSize, maxThreadsPerMultiProcessor;
};
typedef hipDeviceProp_t hipDeviceProp;

hipError_t hipMalloc(void **pointer, size_t bytes);
template <class T> hipError_t hipMalloc(T **pointer, size_t bytes) { return hipMalloc(reinterpret_cast<void **>(pointer), bytes); }
hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t stream);
hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags = 0);
template <class T> hipError_t hipHostMalloc(T **pointer, size_t bytes, unsigned flags = 0) {
    return hipHostMalloc(reinterpret_cast<void **>(pointer), bytes, flags);
}
hipError_t hipMallocManaged(void **pointer, size_t bytes, unsigned flags = 1);
template <class T> hipError_t hipMallocManaged(T **pointer, size_t bytes, unsigned flags = 1) {
    return hipMallocManaged(reinterpret_cast<void **>(pointer), bytes, flags);
}
hipError_t hipFree(void *pointer);
hipError_t hipFreeAsync(void *pointer, hipStream_t stream);
hipError_t hipHostFree(void *pointer);
hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream = nullptr);
hipError_t hipMemset(void *to, int value, size_t bytes);
hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream = nullptr);
template <class T>
hipError_t hipMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0, hipMemcpyKind kind = hipMemcpyHostToDevice);
hipError_t hipGetDevice(int *device);
hipError_t hipSetDevice(int device);
hipError_t hipGetDeviceCount(int *count);
hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device);
hipError_t hipDeviceSynchronize();
hipError_t hipGetLastError();
hipError_t hipPeekAtLastError();
const char *hipGetErrorString(hipError_t error);
const char *hipGetErrorName(hipError_t error);
hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags = 0);
hipError_t hipEventCreate(hipEvent_t *event);
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipFuncSetAttribute(const void *function, hipFuncAttribute attribute, int value);
hipError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, hipStream_t stream);
template <class F>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F function, int block, size_t shared_bytes);

// What clang makes of kernel<<<grid, block, bytes, stream>>>(...).
extern "C" hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0, hipStream_t stream = nullptr);
extern "C" hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0, hipStream_t stream = nullptr);

#define hipLaunchKernelGGL(kernel, grid, block, bytes, stream, ...) \
    do { kernel<<<(grid), (block), (bytes), (stream)>>>(__VA_ARGS__); } while (0)
