#include <hip/hip_runtime.h>

// Dot product and squared norm in double precision: one partial result of each
// for every block (the host adds the few partials in index order).
#define THREADS 128
#define WAVES (THREADS / 32)

__device__ inline double wave_reduce(double v)
{
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down(v, d);
    return v;
}

__global__ void __launch_bounds__(THREADS)
dot_partials(const double* __restrict__ a,
             const double* __restrict__ b,
             double* __restrict__ partial,
             double* __restrict__ norm2,
             int n)
{
    __shared__ double sums[WAVES];
    __shared__ double squares[WAVES];
    const int lane = threadIdx.x & 31;
    const int wave = threadIdx.x >> 5;

    double dot = 0.0, sq = 0.0;
    const int stride = THREADS * gridDim.x;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += stride) {
        const double u = a[i];
        dot = fma(u, b[i], dot);
        sq = fma(u, u, sq);
    }

    dot = wave_reduce(dot);
    sq = wave_reduce(sq);
    if (lane == 0) {
        sums[wave] = dot;
        squares[wave] = sq;
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        double d = 0.0, s = 0.0;
        for (int w = 0; w < WAVES; ++w) {
            d += sums[w];
            s += squares[w];
        }
        partial[blockIdx.x] = d;
        norm2[blockIdx.x] = s;
    }
}
