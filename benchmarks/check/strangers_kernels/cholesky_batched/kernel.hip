#include <hip/hip_runtime.h>

#define NB 16

// L L^T = A + ridge * I for many small matrices (n <= 16), a block a matrix.
// Only the lower half of A is looked at. info: 0, or 1 + the first bad pivot.
__global__ void cholesky_batched(const float* __restrict__ A, float* __restrict__ L,
                                 int* __restrict__ info, int n, float ridge)
{
    __shared__ float S[NB][NB + 1];
    __shared__ int bad;

    const int c = threadIdx.x;
    const int r = threadIdx.y;
    const long long base = (long long)blockIdx.x * n * n;

    if (r < n && c <= r)
        S[r][c] = A[base + r * n + c] + (r == c ? ridge : 0.0f);
    if (r == 0 && c == 0)
        bad = 0;
    __syncthreads();  // loaded

    for (int k = 0; k < n; ++k) {
        if (r == k && c == k) {
            const float d = S[k][k];
            if (d > 0.0f) {
                S[k][k] = sqrtf(d);
            } else {
                S[k][k] = 1.0f;
                if (bad == 0)
                    bad = k + 1;
            }
        }
        __syncthreads();  // pivot known

        if (c == k && r > k && r < n)
            S[r][k] /= S[k][k];
        __syncthreads();  // column k scaled

        if (c > k && r >= c && r < n)
            S[r][c] -= S[r][k] * S[c][k];
        __syncthreads();  // rest updated
    }

    if (r < n && c < n)
        L[base + r * n + c] = c <= r ? S[r][c] : 0.0f;
    if (r == 0 && c == 0)
        info[blockIdx.x] = bad;
}
