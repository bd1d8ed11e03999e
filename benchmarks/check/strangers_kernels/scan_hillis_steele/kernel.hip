#include <hip/hip_runtime.h>

// Inclusive scan of each stretch of 256 integers, and the total of each.
// Log-step scan, two LDS buffers that change places.

constexpr int BLOCK = 256;

__global__ void scan_stretches(const int* __restrict__ in, int* __restrict__ out,
                               int* __restrict__ totals, int n)
{
    __shared__ int buf[2][BLOCK];

    const int tid = threadIdx.x;
    const int gid = blockIdx.x * BLOCK + tid;

    buf[0][tid] = gid < n ? in[gid] : 0;
    __syncthreads();  // loaded

    int cur = 0;
    for (int off = 1; off < BLOCK; off <<= 1) {
        int v = buf[cur][tid];
        if (tid >= off)
            v += buf[cur][tid - off];
        buf[cur ^ 1][tid] = v;
        cur ^= 1;
        __syncthreads();  // step done
    }

    if (gid < n)
        out[gid] = buf[cur][tid];
    if (tid == 0)
        totals[blockIdx.x] = buf[cur][BLOCK - 1];
}
