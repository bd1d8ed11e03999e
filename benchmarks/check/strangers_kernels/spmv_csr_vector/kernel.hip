#include <hip/hip_runtime.h>

// y = A x, A in CSR, one wave of 32 lanes for each row; several waves a block.
#define WAVE 32
#define WAVES_PER_BLOCK 4

__device__ inline float wave_sum(float v)
{
    for (int d = WAVE / 2; d > 0; d >>= 1)
        v += __shfl_xor(v, d);
    return v;
}

__global__ void __launch_bounds__(WAVE * WAVES_PER_BLOCK)
spmv_csr_vector(int rows,
                const int* __restrict__ offsets,
                const int* __restrict__ columns,
                const float* __restrict__ values,
                const float* __restrict__ x,
                float* __restrict__ y)
{
    const int lane = threadIdx.x % WAVE;
    const int wave = threadIdx.x / WAVE;
    const int total_waves = gridDim.x * WAVES_PER_BLOCK;

    for (int row = blockIdx.x * WAVES_PER_BLOCK + wave; row < rows; row += total_waves) {
        const int begin = offsets[row];
        const int end = offsets[row + 1];

        float partial = 0.0f;
        for (int p = begin + lane; p < end; p += WAVE)
            partial += values[p] * x[columns[p]];

        const float total = wave_sum(partial);
        if (lane == 0)
            y[row] = total;
    }
}
