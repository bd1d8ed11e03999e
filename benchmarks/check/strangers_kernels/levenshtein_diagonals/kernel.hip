#include <hip/hip_runtime.h>

#define MAXLEN 64

// Edit distance, a block a pair of strings. Cell (i, j) of the table lies on
// diagonal i + j at place i; only three diagonals are kept.
__global__ void levenshtein(const unsigned char* __restrict__ a,
                            const unsigned char* __restrict__ b,
                            const int* __restrict__ len_a, const int* __restrict__ len_b,
                            int* __restrict__ dist, int stride_a, int stride_b)
{
    __shared__ int diag[3][MAXLEN + 1];

    const int pair = blockIdx.x;
    const int m = len_a[pair];
    const int n = len_b[pair];
    const unsigned char* s = a + pair * stride_a;
    const unsigned char* t = b + pair * stride_b;

    for (int d = 0; d <= m + n; ++d) {
        int* cur = diag[d % 3];
        const int* prev = diag[(d + 2) % 3];
        const int* prev2 = diag[(d + 1) % 3];
        const int first = d > n ? d - n : 0;
        const int last = d < m ? d : m;

        for (int i = first + threadIdx.x; i <= last; i += blockDim.x) {
            const int j = d - i;
            int v;
            if (i == 0) {
                v = j;
            } else if (j == 0) {
                v = i;
            } else {
                const int cost = s[i - 1] == t[j - 1] ? 0 : 1;
                v = prev2[i - 1] + cost;
                if (prev[i - 1] + 1 < v)
                    v = prev[i - 1] + 1;
                if (prev[i] + 1 < v)
                    v = prev[i] + 1;
            }
            cur[i] = v;
        }
        __syncthreads();
    }

    if (threadIdx.x == 0)
        dist[pair] = diag[(m + n) % 3][m];
}
