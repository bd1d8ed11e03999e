#include <hip/hip_runtime.h>

// What doesn't depend on the order of threads: sums, extremes and bits; and places that do, but for their order.
__global__ void atomics(const int *x, int *found, unsigned *bits, unsigned long long *wide, int *places, int n)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    const int v = x[t];
    atomicAdd(&found[0], v);
    atomicSub(&found[1], v ^ t);
    atomicMin(&found[2], v);
    atomicMax(&found[3], v);
    atomicAnd(&bits[0], (unsigned)v | 0x0ff0u);
    atomicOr(&bits[1], 1u << (v & 31));
    atomicXor(&bits[2], (unsigned)v);
    atomicMax(&wide[0], (unsigned long long)(unsigned)v << 20);
    atomicAdd(&wide[1], (unsigned long long)(unsigned)v);
    for (int seen = 0, was; v > seen; seen = was)
        if ((was = atomicCAS(&found[4], seen, v)) == seen) break;
    places[atomicAdd(&found[5], 1)] = v;
}
