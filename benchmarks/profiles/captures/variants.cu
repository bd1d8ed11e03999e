// A tiled fp32 matrix product with one thing wrong at a time, for profiles whose cause is known. See capture.sh.
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#ifdef BURN
#include <cublas_v2.h>
#endif
#ifndef TILE
#define TILE 64
#endif
#ifndef PAD
#define PAD 4
#endif
#ifndef N_
#define N_ 2048
#endif
#ifndef NAME
#define NAME tiled_product
#endif
#ifdef BLOCKS   // per SM: more of them leave fewer registers to each
#define BOUNDS __launch_bounds__(256, BLOCKS)
#else
#define BOUNDS __launch_bounds__(256)
#endif
#ifndef DYNAMIC_BYTES
#define DYNAMIC_BYTES 0
#endif
constexpr int kTile = TILE, kDepth = 16, kThreads = 256, kSide = 16, kPer = kTile / kSide;

__global__ void cast_to_float(const __half *in, float *out, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) out[i] = __half2float(in[i]);
}

__global__ void BOUNDS NAME(const float *a, const float *b, float *c, int n) {
  __shared__ float sa[kDepth][kTile + PAD];   // transposed: [k][row]
  __shared__ float sb[kDepth][kTile + 4];
  const int tx = threadIdx.x % kSide, ty = threadIdx.x / kSide;
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  float sum[kPer][kPer] = {};
  for (int k0 = 0; k0 < n; k0 += kDepth) {
#ifdef NARROW
    for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
      sa[i % kDepth][i / kDepth] = a[(row0 + i / kDepth) * n + k0 + i % kDepth];
      sb[i / kTile][i % kTile] = b[(k0 + i / kTile) * n + col0 + i % kTile];
    }
#else
    for (int i = threadIdx.x; i < kTile * kDepth / 4; i += kThreads) {
      const int r = i / (kDepth / 4), k = i % (kDepth / 4) * 4;
      const float4 v = *reinterpret_cast<const float4 *>(&a[(row0 + r) * n + k0 + k]);
      sa[k][r] = v.x; sa[k + 1][r] = v.y; sa[k + 2][r] = v.z; sa[k + 3][r] = v.w;
#ifdef STRIDED
      const int col = i % kTile, kk = i / kTile * 4;   // neighbours read different rows of B transposed: one sector each
      for (int j = 0; j < 4; ++j) sb[kk + j][col] = b[(col0 + col) * n + k0 + kk + j];
#else
      const int kb = i / (kTile / 4), cb = i % (kTile / 4) * 4;
      *reinterpret_cast<float4 *>(&sb[kb][cb]) = *reinterpret_cast<const float4 *>(&b[(k0 + kb) * n + col0 + cb]);
#endif
    }
#endif
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
#pragma unroll
      for (int i = 0; i < kPer; ++i)
#pragma unroll
        for (int j = 0; j < kPer; ++j) {
#ifdef EXTRA_MATH
          sum[i][j] += sa[k][ty * kPer + i] * sb[k][tx * kPer + j] + 1e-9f * __sinf(sum[i][j]);
#else
          sum[i][j] += sa[k][ty * kPer + i] * sb[k][tx * kPer + j];
#endif
        }
#ifdef BARRIERS
      __syncthreads();
#endif
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kPer; ++i)
#pragma unroll
    for (int j = 0; j < kPer; ++j) c[(row0 + ty * kPer + i) * n + col0 + tx * kPer + j] = sum[i][j];
}

// Heats the card until its power limit lowers the clock: large half products on random values, for BURN milliseconds or so.
struct Burner {
#ifdef BURN
  static constexpr int kSize = 8192;
  cublasHandle_t handle;
  __half *x, *y, *z;
  Burner() {
    cublasCreate(&handle);
    cudaMalloc(&x, kSize * kSize * 2L); cudaMalloc(&y, kSize * kSize * 2L); cudaMalloc(&z, kSize * kSize * 2L);
    unsigned short *host = static_cast<unsigned short *>(malloc(kSize * kSize * 2L));
    unsigned s = 7;
    for (int i = 0; i < kSize * kSize; ++i) { s = s * 1664525u + 1013904223u; host[i] = (s >> 16 & 0x83ffu) | (14 + (s >> 14 & 1)) << 10; }
    cudaMemcpy(x, host, kSize * kSize * 2L, cudaMemcpyHostToDevice); cudaMemcpy(y, host, kSize * kSize * 2L, cudaMemcpyHostToDevice);
    free(host);
  }
  void run() {   // each is about 1.5 ms
    const float one = 1, zero = 0;
    for (int i = 0; i < BURN * 2 / 3; ++i)
      cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, kSize, kSize, kSize, &one, x, CUDA_R_16F, kSize, y, CUDA_R_16F, kSize, &zero, z,
                   CUDA_R_16F, kSize, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP);
  }
#else
  void run() {}
#endif
};

int main() {
  const int n = N_;
  Burner burner;
  float *a, *b, *c;
  __half *h;
  cudaMalloc(&a, n * n * 4L); cudaMalloc(&b, n * n * 4L); cudaMalloc(&c, n * n * 4L); cudaMalloc(&h, n * n * 2L);
  float *host = static_cast<float *>(malloc(n * n * 4L));
  unsigned s = 1;
  for (int i = 0; i < n * n; ++i) { s = s * 1664525u + 1013904223u; host[i] = (s >> 8) * (1.f / (1 << 24)) - .5f; }
  cudaMemcpy(a, host, n * n * 4L, cudaMemcpyHostToDevice); cudaMemcpy(b, host, n * n * 4L, cudaMemcpyHostToDevice);
  cudaMemset(h, 0, n * n * 2L);
  if (DYNAMIC_BYTES) cudaFuncSetAttribute(NAME, cudaFuncAttributeMaxDynamicSharedMemorySize, DYNAMIC_BYTES);
  for (int i = 0; i < 3; ++i) {
    burner.run();
#ifdef CAST
    cast_to_float<<<1024, 256>>>(h, b, n * n);
#endif
    NAME<<<dim3(n / kTile, n / kTile), kThreads, DYNAMIC_BYTES>>>(a, b, c, n);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
