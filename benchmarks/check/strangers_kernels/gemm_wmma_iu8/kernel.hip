#include <hip/hip_runtime.h>

// C = A * B + bias, signed bytes into 32-bit integers. A workgroup of two
// waves makes 32 x 16 of C, each wave 16 x 16 by WMMA; ragged edges are
// padded with zeros while staging.

typedef int frag4 __attribute__((ext_vector_type(4)));
typedef int acc8 __attribute__((ext_vector_type(8)));

union Line {  // sixteen bytes along k
    signed char byte[16];
    frag4 frag;
};

#define THREADS 64

extern "C" __global__ void __launch_bounds__(THREADS)
gemm_i8(const signed char* __restrict__ a, const signed char* __restrict__ b,
        const int* __restrict__ bias, int* __restrict__ c, int m, int n, int k)
{
    __shared__ Line at[32];  // rows of A
    __shared__ Line bt[16];  // columns of B

    const int tid = threadIdx.x;
    const int lane = tid & 31;
    const int wave = tid >> 5;
    const int row0 = blockIdx.y * 32;
    const int col0 = blockIdx.x * 16;

    acc8 acc = {0, 0, 0, 0, 0, 0, 0, 0};

    for (int k0 = 0; k0 < k; k0 += 16) {
        for (int e = tid; e < 32 * 16; e += THREADS) {
            const int r = e / 16, x = e % 16;
            const bool live = row0 + r < m && k0 + x < k;
            at[r].byte[x] = live ? a[(row0 + r) * k + k0 + x] : (signed char)0;
        }
        for (int e = tid; e < 16 * 16; e += THREADS) {
            const int x = e / 16, j = e % 16;
            const bool live = col0 + j < n && k0 + x < k;
            bt[j].byte[x] = live ? b[(k0 + x) * n + col0 + j] : (signed char)0;
        }
        __syncthreads();  // staged

        const frag4 fa = at[wave * 16 + lane % 16].frag;
        const frag4 fb = bt[lane % 16].frag;
        acc = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, fa, true, fb, acc, false);
        __syncthreads();  // consumed
    }

    const int col = col0 + lane % 16;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int row = row0 + wave * 16 + 2 * i + lane / 16;
        if (row < m && col < n)
            c[row * n + col] = acc[i] + bias[col];
    }
}
