#include <hip/hip_runtime.h>

#define TS 16

// C = alpha * A B + beta * C, all row major.
// The slab of step s + 1 travels from memory while step s is multiplied.
__global__ __launch_bounds__(TS * TS) void sgemm_db(const float* __restrict__ A,
                                                    const float* __restrict__ B,
                                                    float* __restrict__ C,
                                                    int M, int N, int K,
                                                    float alpha, float beta)
{
    __shared__ float As[2][TS][TS + 1];
    __shared__ float Bs[2][TS][TS + 1];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * TS + ty;
    const int col = blockIdx.x * TS + tx;
    const int steps = (K + TS - 1) / TS;

    As[0][ty][tx] = (row < M && tx < K) ? A[row * K + tx] : 0.0f;
    Bs[0][ty][tx] = (ty < K && col < N) ? B[ty * N + col] : 0.0f;
    __syncthreads();

    float acc = 0.0f;
    int cur = 0;
    for (int s = 0; s < steps; ++s) {
        const int nxt = cur ^ 1;
        const bool more = s + 1 < steps;
        float a_next = 0.0f;
        float b_next = 0.0f;
        if (more) {
            const int ka = (s + 1) * TS + tx;
            const int kb = (s + 1) * TS + ty;
            if (row < M && ka < K) a_next = A[row * K + ka];
            if (kb < K && col < N) b_next = B[kb * N + col];
        }

#pragma unroll
        for (int k = 0; k < TS; ++k)
            acc += As[cur][ty][k] * Bs[cur][k][tx];

        if (more) {
            As[nxt][ty][tx] = a_next;
            Bs[nxt][ty][tx] = b_next;
            __syncthreads();  // slab nxt is whole
        }
        cur = nxt;
    }

    if (row < M && col < N) {
        float* c = C + row * N + col;
        *c = alpha * acc + beta * *c;
    }
}
