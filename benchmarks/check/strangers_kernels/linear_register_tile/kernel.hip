#include <hip/hip_runtime.h>

#define BM 32
#define BN 32
#define BK 8
#define RT 4
#define THREADS 64

// y[M, N] = x[M, K] * w[N, K]^T + bias[N]; each thread owns a 4 x 4 patch of y.
__global__ void linear_bias(const float* __restrict__ x, const float* __restrict__ w,
                            const float* __restrict__ bias, float* __restrict__ y,
                            int M, int N, int K)
{
    __shared__ float xs[BK][BM];
    __shared__ float ws[BK][BN];

    const int tid = threadIdx.x;
    const int tr = tid / (BN / RT);
    const int tc = tid % (BN / RT);
    const int row0 = blockIdx.y * BM;
    const int col0 = blockIdx.x * BN;

    float acc[RT][RT];
#pragma unroll
    for (int i = 0; i < RT; ++i)
#pragma unroll
        for (int j = 0; j < RT; ++j)
            acc[i][j] = 0.0f;

    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int e = tid; e < BM * BK; e += THREADS) {
            const int r = e / BK;
            const int k = e % BK;
            const int gr = row0 + r;
            xs[k][r] = (gr < M && k0 + k < K) ? x[gr * K + k0 + k] : 0.0f;
        }
        for (int e = tid; e < BN * BK; e += THREADS) {
            const int r = e / BK;
            const int k = e % BK;
            const int gc = col0 + r;
            ws[k][r] = (gc < N && k0 + k < K) ? w[gc * K + k0 + k] : 0.0f;
        }
        __syncthreads();  // slab loaded

#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float xf[RT], wf[RT];
#pragma unroll
            for (int i = 0; i < RT; ++i) {
                xf[i] = xs[k][tr * RT + i];
                wf[i] = ws[k][tc * RT + i];
            }
#pragma unroll
            for (int i = 0; i < RT; ++i)
#pragma unroll
                for (int j = 0; j < RT; ++j)
                    acc[i][j] += xf[i] * wf[j];
        }
        __syncthreads();  // slab used up
    }

#pragma unroll
    for (int i = 0; i < RT; ++i) {
        const int gr = row0 + tr * RT + i;
        if (gr >= M) continue;
#pragma unroll
        for (int j = 0; j < RT; ++j) {
            const int gc = col0 + tc * RT + j;
            if (gc >= N) continue;
            y[gr * N + gc] = acc[i][j] + bias[gc];
        }
    }
}
