#include <hip/hip_runtime.h>

// Attention of one head with WMMA: a wave owns 16 queries, two waves share
// the staged keys and values, the softmax runs along with the key tiles.
typedef _Float16 h16 __attribute__((ext_vector_type(16)));
typedef float f8 __attribute__((ext_vector_type(8)));

#define THREADS 64
#define DIM 32

__global__ void __launch_bounds__(THREADS)
attend_wmma(const _Float16* __restrict__ q, const _Float16* __restrict__ k,
            const _Float16* __restrict__ v, float* __restrict__ out,
            int queries, int keys, float scale)
{
    __shared__ _Float16 kt[16][DIM];
    __shared__ _Float16 vt[16][DIM];
    __shared__ _Float16 pt[2][16][16];

    const int tid = threadIdx.x, lane = tid & 31, wave = tid >> 5;
    const int col = lane & 15, upper = lane >> 4;
    const int q0 = blockIdx.x * 32 + wave * 16;

    h16 fq[2];
#pragma unroll
    for (int part = 0; part < 2; ++part)
#pragma unroll
        for (int e = 0; e < 16; ++e)
            fq[part][e] = q0 + col < queries ? q[(q0 + col) * DIM + part * 16 + e] : (_Float16)0.0f;

    f8 acc[2] = {{0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}};
    float top[8], sum[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) { top[i] = -3.0e38f; sum[i] = 0.0f; }

    for (int base = 0; base < keys; base += 16) {
        __syncthreads();  // last tile is done with
        for (int e = tid; e < 16 * DIM; e += THREADS) {
            const int r = e / DIM, d = e % DIM;
            const bool live = base + r < keys;
            kt[r][d] = live ? k[(base + r) * DIM + d] : (_Float16)0.0f;
            vt[r][d] = live ? v[(base + r) * DIM + d] : (_Float16)0.0f;
        }
        __syncthreads();  // tile staged

        f8 s = {0, 0, 0, 0, 0, 0, 0, 0};
#pragma unroll
        for (int part = 0; part < 2; ++part) {
            h16 fk;
#pragma unroll
            for (int e = 0; e < 16; ++e) fk[e] = kt[col][part * 16 + e];
            s = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(fq[part], fk, s);
        }

#pragma unroll
        for (int i = 0; i < 8; ++i) {  // row 2i + upper, spread over 16 lanes
            const float score = base + col < keys ? s[i] * scale : -3.0e38f;
            float t = score;
            for (int d = 8; d > 0; d >>= 1) t = fmaxf(t, __shfl_xor(t, d));
            t = fmaxf(t, top[i]);
            const float fix = expf(top[i] - t), p = expf(score - t);
            float add = p;
            for (int d = 8; d > 0; d >>= 1) add += __shfl_xor(add, d);
            sum[i] = sum[i] * fix + add;
            top[i] = t;
            acc[0][i] *= fix;
            acc[1][i] *= fix;
            pt[wave][2 * i + upper][col] = (_Float16)p;
        }
        __syncthreads();  // weights laid down

#pragma unroll
        for (int part = 0; part < 2; ++part) {
            h16 fp, fv;
#pragma unroll
            for (int e = 0; e < 16; ++e) { fp[e] = pt[wave][col][e]; fv[e] = vt[e][part * 16 + col]; }
            acc[part] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(fp, fv, acc[part]);
        }
    }

#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int row = q0 + 2 * i + upper;
        if (row < queries) {
            out[row * DIM + col] = acc[0][i] / sum[i];
            out[row * DIM + 16 + col] = acc[1][i] / sum[i];
        }
    }
}
