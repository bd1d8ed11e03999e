#include <hip/hip_runtime.h>

// Sorts every stretch of 256 unsigned keys ascending, one workgroup each;
// a short last stretch is filled up with the greatest key.

#define SIZE 256

__global__ void bitonic_stretches(const unsigned int* in, unsigned int* out, int n)
{
    __shared__ unsigned int keys[SIZE];

    const int tid = threadIdx.x;
    const int gid = blockIdx.x * SIZE + tid;

    keys[tid] = gid < n ? in[gid] : 0xffffffffu;

    for (int k = 2; k <= SIZE; k <<= 1) {
        for (int j = k >> 1; j > 0; j >>= 1) {
            __syncthreads();  // before every exchange
            const int other = tid ^ j;
            if (other > tid) {
                const bool up = (tid & k) == 0;
                const unsigned int lo = keys[tid];
                const unsigned int hi = keys[other];
                if ((lo > hi) == up) {
                    keys[tid] = hi;
                    keys[other] = lo;
                }
            }
        }
    }
    __syncthreads();  // before the keys go out

    if (gid < n)
        out[gid] = keys[tid];
}
