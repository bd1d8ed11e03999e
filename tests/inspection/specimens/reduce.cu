// A sum and a maximum by warp shuffles, as CUDA samples write it: nothing is included, nvcc does that by itself.
#include <cstdio>

__inline__ __device__ float warp_sum(float value) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

__inline__ __device__ int warp_max(int value) {
    for (int mask = warpSize / 2; mask > 0; mask >>= 1) value = max(value, __shfl_xor_sync(0xffffffff, value, mask));
    return value;
}

extern "C" __global__ void __launch_bounds__(256) reduce(const float *x, float *sums, int *tops, int *up, int n) {
    __shared__ float partial[32];
    __shared__ int highest[32];
    float sum = 0.0f;
    int top = -2147483647;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = __ldg(&x[i]);
        sum += v * v;
        top = max(top, __float2int_rn(v * 100.0f));
    }
    const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    up[blockIdx.x * blockDim.x + threadIdx.x] = __shfl_up_sync(0xffffffff, lane, 3) + 100 * __shfl_sync(0xffffffff, lane, gridDim.x + 3, 8);
    sum = warp_sum(sum);
    top = warp_max(top);
    if (lane == 0) partial[warp] = sum, highest[warp] = top;
    __syncthreads();
    if (warp == 0) {
        const int warps = blockDim.x / warpSize;
        sum = warp_sum(lane < warps ? partial[lane] : 0.0f);
        top = warp_max(lane < warps ? highest[lane] : -2147483647);
        if (lane == 0) sums[blockIdx.x] = sum, tops[blockIdx.x] = top;
    }
}

extern "C" __global__ void count(const float *x, float *total, unsigned *negative, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(total, x[i]);
        if (x[i] < 0.0f) atomicAdd(negative, 1u);
        if (i == 0 && x[i] != x[i]) printf("nan at %d\n", i);
    }
}
