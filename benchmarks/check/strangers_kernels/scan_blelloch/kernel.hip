#include <hip/hip_runtime.h>

// Exclusive scan of stretches of 256, two values per thread, up-sweep and
// down-sweep in LDS. One spare word after every 32 keeps banks apart.

#define THREADS 128
#define ELEMS (2 * THREADS)
#define PAD(i) ((i) + ((i) >> 5))

__global__ void exclusive_scan(const unsigned* __restrict__ in, unsigned* __restrict__ out,
                               unsigned* __restrict__ sums, int n)
{
    __shared__ unsigned tmp[ELEMS + ELEMS / 32];

    const int tid = threadIdx.x;
    const int base = blockIdx.x * ELEMS;
    const int p = tid, q = tid + THREADS;

    tmp[PAD(p)] = base + p < n ? in[base + p] : 0u;
    tmp[PAD(q)] = base + q < n ? in[base + q] : 0u;

    int stride = 1;
    for (int d = ELEMS / 2; d > 0; d >>= 1) {
        __syncthreads();  // going up
        if (tid < d) {
            const int l = stride * (2 * tid + 1) - 1;
            const int r = stride * (2 * tid + 2) - 1;
            tmp[PAD(r)] += tmp[PAD(l)];
        }
        stride *= 2;
    }

    if (tid == 0) {
        sums[blockIdx.x] = tmp[PAD(ELEMS - 1)];
        tmp[PAD(ELEMS - 1)] = 0u;
    }

    for (int d = 1; d < ELEMS; d <<= 1) {
        stride /= 2;
        __syncthreads();  // going down
        if (tid < d) {
            const int l = stride * (2 * tid + 1) - 1;
            const int r = stride * (2 * tid + 2) - 1;
            const unsigned keep = tmp[PAD(l)];
            tmp[PAD(l)] = tmp[PAD(r)];
            tmp[PAD(r)] += keep;
        }
    }
    __syncthreads();  // scanned

    if (base + p < n) out[base + p] = tmp[PAD(p)];
    if (base + q < n) out[base + q] = tmp[PAD(q)];
}
