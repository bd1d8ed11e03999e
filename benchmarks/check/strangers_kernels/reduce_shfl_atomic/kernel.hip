#include <hip/hip_runtime.h>

// total += sum over i of max(x[i] - threshold, 0)
// Lanes fold by shuffles, waves by LDS, workgroups by one atomic each.

#define THREADS 256
#define ITEMS 4
#define WAVES (THREADS / 32)

__device__ int wave_sum(int v)
{
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down(v, d);
    return v;  // right in lane 0 only
}

__global__ void sum_excess(const int* x, int threshold, int* total, int n)
{
    __shared__ int per_wave[WAVES];

    const int tid = threadIdx.x;
    const int lane = tid & 31;
    const int wave = tid >> 5;
    const int base = blockIdx.x * (THREADS * ITEMS);

    int mine = 0;
    for (int k = 0; k < ITEMS; ++k) {
        const int i = base + k * THREADS + tid;
        if (i < n) {
            const int over = x[i] - threshold;
            mine += over > 0 ? over : 0;
        }
    }

    mine = wave_sum(mine);
    if (lane == 0)
        per_wave[wave] = mine;
    __syncthreads();

    if (wave == 0) {
        int v = lane < WAVES ? per_wave[lane] : 0;
        v = wave_sum(v);
        if (lane == 0)
            atomicAdd(total, v);
    }
}
