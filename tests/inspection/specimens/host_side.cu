// A CUDA file with a host's half, and the headers that such files include.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuComplex.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <device_atomic_functions.h>
#include <device_launch_parameters.h>
#include <math_constants.h>

#include <cstdio>
#include <vector>

__constant__ float weights[4];

__global__ void scale(const cuFloatComplex *x, float *y, int n, const __grid_constant__ float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = cuCabsf(cuCmulf(x[i], make_cuFloatComplex(by, weights[i & 3]))) < CUDART_INF_F ? 1.0f : CUDART_PI_F;
}

int main() {
    std::vector<float> host(100);
    float *y;
    cuFloatComplex *x;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    cudaDeviceProp properties;
    if (cudaMalloc(&y, 400) != cudaSuccess) printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    cudaMallocManaged(&x, 800);
    cudaGetDeviceProperties(&properties, 0);
    cudaStreamCreate(&stream);
    cudaEventCreate(&start), cudaEventCreate(&stop);
    cudaMemcpyToSymbol(weights, host.data(), 16);
    cudaEventRecord(start, stream);
    scale<<<dim3(1), 128, 0, stream>>>(x, y, 100, 2.0f);
    cudaEventRecord(stop, stream);
    cudaMemcpyAsync(host.data(), y, 400, cudaMemcpyDeviceToHost, stream);
    int blocks;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 128, 0);
    cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
    cudaStreamSynchronize(stream);
    cudaFree(y), cudaFree(x);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
