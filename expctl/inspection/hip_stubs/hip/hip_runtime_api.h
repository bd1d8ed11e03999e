// The host's half of HIP, declared so that the host functions of a kernel file parse. Nothing here is ever linked.
#pragma once

#include "../expctl_keywords.h"

#include <cstddef>
#include <cstdint>

enum hipError_t {
    hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorOutOfMemory = 2, hipErrorNotInitialized = 3, hipErrorInvalidDevicePointer = 17,
    hipErrorNoDevice = 100, hipErrorInvalidDevice = 101, hipErrorInvalidHandle = 400, hipErrorNotReady = 600, hipErrorLaunchFailure = 719,
    hipErrorPeerAccessAlreadyEnabled = 704, hipErrorCooperativeLaunchTooLarge = 720, hipErrorNotSupported = 801, hipErrorUnknown = 999
};
enum hipMemcpyKind { hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice, hipMemcpyDefault };
enum hipFuncAttribute { hipFuncAttributeMaxDynamicSharedMemorySize = 8, hipFuncAttributePreferredSharedMemoryCarveout = 9 };
enum hipFuncCache_t { hipFuncCachePreferNone, hipFuncCachePreferShared, hipFuncCachePreferL1, hipFuncCachePreferEqual };
enum hipSharedMemConfig { hipSharedMemBankSizeDefault, hipSharedMemBankSizeFourByte, hipSharedMemBankSizeEightByte };
enum hipMemoryAdvise { hipMemAdviseSetReadMostly = 1, hipMemAdviseSetPreferredLocation = 3, hipMemAdviseSetAccessedBy = 5, hipMemAdviseSetCoarseGrain = 100 };
enum hipDeviceAttribute_t {
    hipDeviceAttributeComputeCapabilityMajor, hipDeviceAttributeComputeCapabilityMinor, hipDeviceAttributeMultiprocessorCount,
    hipDeviceAttributeMaxThreadsPerBlock, hipDeviceAttributeMaxSharedMemoryPerBlock, hipDeviceAttributeWarpSize, hipDeviceAttributeClockRate,
    hipDeviceAttributeMemoryClockRate, hipDeviceAttributeMemoryBusWidth, hipDeviceAttributeCooperativeLaunch, hipDeviceAttributeManagedMemory,
    hipDeviceAttributeConcurrentManagedAccess, hipDeviceAttributeMaxThreadsPerMultiProcessor, hipDeviceAttributeMaxRegistersPerBlock,
    hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, hipDeviceAttributeL2CacheSize, hipDeviceAttributeMemoryPoolsSupported,
    hipDeviceAttributeMaxGridDimX, hipDeviceAttributeMaxBlockDimX
};
enum {
    hipEventDefault = 0, hipEventBlockingSync = 1, hipEventDisableTiming = 2, hipStreamNonBlocking = 1,
    hipHostMallocDefault = 0, hipHostMallocPortable = 1, hipHostMallocMapped = 2, hipHostMallocWriteCombined = 4, hipHostMallocCoherent = 0x40000000,
    hipHostMallocNonCoherent = -0x7fffffff - 1, hipHostRegisterDefault = 0, hipHostRegisterMapped = 2, hipMemAttachGlobal = 1, hipMemAttachHost = 2,
    hipDeviceScheduleAuto = 0, hipDeviceMapHost = 8, hipCpuDeviceId = -1
};
#define hipStreamDefault 0 // a macro, for it stands for a stream too
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef struct ihipCtx_t *hipCtx_t;
typedef struct hipGraph *hipGraph_t;
typedef struct hipGraphExec *hipGraphExec_t;
typedef struct hipGraphNode *hipGraphNode_t;
typedef int hipDevice_t;
typedef void *hipDeviceptr_t;
typedef unsigned long long hipTextureObject_t;
typedef unsigned long long hipSurfaceObject_t;

struct dim3 {
    unsigned x, y, z;
    constexpr __host__ __device__ dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

struct hipDeviceArch_t {
    unsigned hasGlobalInt32Atomics, hasSharedInt32Atomics, hasFloatAtomicAdd, hasDoubles, hasWarpVote, hasWarpBallot, hasWarpShuffle;
};
struct hipDeviceProp_t {
    char name[256];
    char gcnArchName[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerMultiprocessor, totalConstMem, maxSharedMemoryPerMultiProcessor, memPitch;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, multiProcessorCount, major, minor;
    int memoryClockRate, memoryBusWidth, l2CacheSize, maxThreadsPerMultiProcessor, computeMode, concurrentKernels, canMapHostMemory;
    int cooperativeLaunch, managedMemory, concurrentManagedAccess, integrated, isMultiGpuBoard, pciBusID, pciDeviceID, pciDomainID;
    int gcnArch, clockInstructionRate, unifiedAddressing, isLargeBar, ECCEnabled, asyncEngineCount, regsPerMultiprocessor;
    hipDeviceArch_t arch;
};
typedef hipDeviceProp_t hipDeviceProp;
struct hipFuncAttributes {
    int binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes, maxThreadsPerBlock, numRegs, preferredShmemCarveout, ptxVersion;
    size_t constSizeBytes, localSizeBytes, sharedSizeBytes;
};

hipError_t hipMalloc(void **pointer, size_t bytes);
template <class T> hipError_t hipMalloc(T **pointer, size_t bytes);
hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t stream);
template <class T> hipError_t hipMallocAsync(T **pointer, size_t bytes, hipStream_t stream);
hipError_t hipExtMallocWithFlags(void **pointer, size_t bytes, unsigned flags);
hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
template <class T> hipError_t hipMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height);
hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags = 0);
template <class T> hipError_t hipHostMalloc(T **pointer, size_t bytes, unsigned flags = 0);
hipError_t hipMallocHost(void **pointer, size_t bytes);
template <class T> hipError_t hipMallocHost(T **pointer, size_t bytes);
hipError_t hipHostAlloc(void **pointer, size_t bytes, unsigned flags);
template <class T> hipError_t hipHostAlloc(T **pointer, size_t bytes, unsigned flags);
hipError_t hipMallocManaged(void **pointer, size_t bytes, unsigned flags = 1);
template <class T> hipError_t hipMallocManaged(T **pointer, size_t bytes, unsigned flags = 1);
hipError_t hipFree(void *pointer);
hipError_t hipFreeAsync(void *pointer, hipStream_t stream);
hipError_t hipHostFree(void *pointer);
hipError_t hipFreeHost(void *pointer);
hipError_t hipHostRegister(void *pointer, size_t bytes, unsigned flags);
hipError_t hipHostUnregister(void *pointer);
hipError_t hipHostGetDevicePointer(void **device, void *host, unsigned flags);
hipError_t hipMemGetInfo(size_t *free, size_t *total);
hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes, int device, hipStream_t stream = nullptr);
hipError_t hipMemAdvise(const void *pointer, size_t bytes, hipMemoryAdvise advice, int device);
hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream = nullptr);
hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, hipMemcpyKind kind);
hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, hipMemcpyKind kind,
                            hipStream_t stream = nullptr);
hipError_t hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes);
hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, hipStream_t stream = nullptr);
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void *from, size_t bytes);
hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes);
hipError_t hipMemset(void *to, int value, size_t bytes);
hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width, size_t height);
hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream = nullptr);
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count);
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream = nullptr);
template <class T>
hipError_t hipMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0, hipMemcpyKind kind = hipMemcpyHostToDevice);
template <class T>
hipError_t hipMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset, hipMemcpyKind kind, hipStream_t stream = nullptr);
template <class T>
hipError_t hipMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0, hipMemcpyKind kind = hipMemcpyDeviceToHost);
template <class T> hipError_t hipGetSymbolAddress(void **pointer, const T &symbol);
template <class T> hipError_t hipGetSymbolSize(size_t *bytes, const T &symbol);

hipError_t hipInit(unsigned flags);
hipError_t hipDriverGetVersion(int *version);
hipError_t hipRuntimeGetVersion(int *version);
hipError_t hipGetDevice(int *device);
hipError_t hipSetDevice(int device);
hipError_t hipSetDeviceFlags(unsigned flags);
hipError_t hipGetDeviceCount(int *count);
hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device);
hipError_t hipDeviceGet(hipDevice_t *device, int ordinal);
hipError_t hipDeviceGetName(char *name, int bytes, hipDevice_t device);
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device);
hipError_t hipDeviceGetPCIBusId(char *name, int bytes, int device);
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config);
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config);
hipError_t hipDeviceSynchronize();
hipError_t hipDeviceReset();
hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer);
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags);
hipError_t hipDeviceDisablePeerAccess(int peer);
hipError_t hipGetLastError();
hipError_t hipPeekAtLastError();
const char *hipGetErrorString(hipError_t error);
const char *hipGetErrorName(hipError_t error);
hipError_t hipStreamCreate(hipStream_t *stream);
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags);
hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority);
hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags = 0);
hipError_t hipStreamAddCallback(hipStream_t stream, void (*callback)(hipStream_t, hipError_t, void *), void *data, unsigned flags);
hipError_t hipEventCreate(hipEvent_t *event);
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipProfilerStart();
hipError_t hipProfilerStop();

hipError_t hipFuncSetAttribute(const void *function, hipFuncAttribute attribute, int value);
template <class F> hipError_t hipFuncSetAttribute(F *function, hipFuncAttribute attribute, int value);
hipError_t hipFuncSetCacheConfig(const void *function, hipFuncCache_t config);
template <class F> hipError_t hipFuncSetCacheConfig(F *function, hipFuncCache_t config);
hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, const void *function);
template <class F> hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, F *function);
hipError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, hipStream_t stream);
hipError_t hipLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, unsigned shared_bytes, hipStream_t stream);
template <class F>
hipError_t hipLaunchCooperativeKernel(F *function, dim3 grid, dim3 block, void **arguments, unsigned shared_bytes, hipStream_t stream);
template <class F>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F function, int block, size_t shared_bytes);
template <class F>
hipError_t hipOccupancyMaxPotentialBlockSize(int *grid, int *block, F function, size_t shared_bytes = 0, int limit = 0);
hipError_t hipModuleLoad(hipModule_t *module, const char *file);
hipError_t hipModuleLoadData(hipModule_t *module, const void *image);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name);
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes, hipStream_t stream, void **arguments, void **extra);

// What clang makes of kernel<<<grid, block, bytes, stream>>>(...).
extern "C" hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0, hipStream_t stream = nullptr);
extern "C" hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0, hipStream_t stream = nullptr);

#ifdef HIP_TEMPLATE_KERNEL_LAUNCH // asked for by those whose template arguments have commas
template <typename... Arguments, typename Kernel = void (*)(Arguments...)> // for a kernel whose last types follow from them
void hipLaunchKernelGGL(Kernel kernel, dim3 grid, dim3 block, unsigned bytes, hipStream_t stream, Arguments... arguments) {
    kernel<<<grid, block, bytes, stream>>>(arguments...);
}
#else
#define hipLaunchKernelGGL(kernel, grid, block, bytes, stream, ...) \
    do { kernel<<<(grid), (block), (bytes), (stream)>>>(__VA_ARGS__); } while (0)
#endif
