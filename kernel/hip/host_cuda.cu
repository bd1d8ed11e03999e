// nvcc -gencode=arch=compute_90a,code=sm_90a -std=c++17 -O3 -Xcompiler -fPIC -shared host_cuda.cu -o scaled_mm.so
#include <cuda_runtime.h>

#define cudaDeviceProp_t cudaDeviceProp   // the one name that HIP spells its own way
#include "host_device.h"
