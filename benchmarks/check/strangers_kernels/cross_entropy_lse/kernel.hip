#include <hip/hip_runtime.h>

#define BLOCK 64
#define WAVES (BLOCK / 32)

__device__ float wave_max(float v)
{
    for (int d = 16; d > 0; d >>= 1)
        v = fmaxf(v, __shfl_xor(v, d));
    return v;
}

__device__ float wave_sum(float v)
{
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_xor(v, d);
    return v;
}

// loss[r] = logsumexp(logits[r]) - logits[r, label[r]]; a negative label is left out (loss 0)
__global__ void xent_forward(const float* __restrict__ logits, const int* __restrict__ labels,
                             float* __restrict__ loss, float* __restrict__ lse_out, int classes)
{
    __shared__ float red[WAVES];

    const int tid = threadIdx.x;
    const int lane = tid & 31;
    const int wave = tid >> 5;
    const float* row = logits + (long long)blockIdx.x * classes;

    float m = -3.0e38f;
    for (int c = tid; c < classes; c += BLOCK)
        m = fmaxf(m, row[c]);
    m = wave_max(m);
    if (lane == 0)
        red[wave] = m;
    __syncthreads();  // maxima stored
    m = red[0];
    for (int w = 1; w < WAVES; ++w)
        m = fmaxf(m, red[w]);
    __syncthreads();  // maxima read

    float s = 0.0f;
    for (int c = tid; c < classes; c += BLOCK)
        s += expf(row[c] - m);
    s = wave_sum(s);
    if (lane == 0)
        red[wave] = s;
    __syncthreads();  // sums stored

    if (tid == 0) {
        float total = 0.0f;
        for (int w = 0; w < WAVES; ++w)
            total += red[w];
        const float lse = m + logf(total);
        const int label = labels[blockIdx.x];
        float value = 0.0f;
        if (label >= 0)
            value = lse - row[label];
        loss[blockIdx.x] = value;
        lse_out[blockIdx.x] = lse;
    }
}
