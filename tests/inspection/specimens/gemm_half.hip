// A tiled product of halves, as a tutorial writes it: host code, error macro and C++ library included.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cstdlib>
#include <iostream>
#include <vector>

#define HIP_CHECK(expression)                                                        \
    do {                                                                             \
        hipError_t status = (expression);                                            \
        if (status != hipSuccess) {                                                  \
            std::cerr << "HIP error: " << hipGetErrorString(status) << std::endl;    \
            std::exit(EXIT_FAILURE);                                                 \
        }                                                                            \
    } while (0)

constexpr int TILE = 16;

template <typename T, bool HAS_BIAS>
__global__ void __launch_bounds__(TILE * TILE)
gemm(const T *__restrict__ a, const T *__restrict__ b, const T *__restrict__ bias, T *__restrict__ c, int m, int n, int k) {
    __shared__ T tile_a[TILE][TILE + 1];
    __shared__ T tile_b[TILE][TILE + 1];
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < k; t += TILE) {
        tile_a[threadIdx.y][threadIdx.x] = (row < m && t + threadIdx.x < k) ? a[row * k + t + threadIdx.x] : T(0.0f);
        tile_b[threadIdx.y][threadIdx.x] = (col < n && t + threadIdx.y < k) ? b[(t + threadIdx.y) * n + col] : T(0.0f);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            sum = fmaf(__half2float(tile_a[threadIdx.y][i]), __half2float(tile_b[i][threadIdx.x]), sum);
        __syncthreads();
    }
    if (row < m && col < n) {
        if (HAS_BIAS) sum += __half2float(bias[col]);
        c[row * n + col] = __float2half(sum);
    }
}

// Two halves at a time through a wider type.
extern "C" __global__ void axpy_half8(const uint4 *x, uint4 *y, __half alpha, int n8) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n8) return;
    uint4 packed = x[i], out = y[i];
    const half2 *from = reinterpret_cast<const half2 *>(&packed);
    half2 *to = reinterpret_cast<half2 *>(&out);
    for (int j = 0; j < 4; ++j) to[j] = __hfma2(__half2half2(alpha), from[j], to[j]);
    y[i] = out;
}

int main() {
    const int m = 64, n = 64, k = 64;
    std::vector<__half> host_a(m * k, __float2half(0.5f));
    __half *a = nullptr, *c = nullptr;
    HIP_CHECK(hipMalloc(&a, host_a.size() * sizeof(__half)));
    HIP_CHECK(hipMalloc(&c, m * n * sizeof(__half)));
    HIP_CHECK(hipMemcpy(a, host_a.data(), host_a.size() * sizeof(__half), hipMemcpyHostToDevice));
    dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    hipEvent_t start, stop;
    HIP_CHECK(hipEventCreate(&start));
    HIP_CHECK(hipEventCreate(&stop));
    hipLaunchKernelGGL((gemm<__half, true>), grid, block, 0, 0, a, a, a, c, m, n, k);
    gemm<__half, false><<<grid, block>>>(a, a, nullptr, c, m, n, k);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipDeviceSynchronize());
    HIP_CHECK(hipFree(a));
    std::cout << "done" << std::endl;
    return 0;
}
