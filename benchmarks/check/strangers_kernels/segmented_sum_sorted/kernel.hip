#include <hip/hip_runtime.h>

// Sums and counts of values by key where the keys come sorted.
// Each wave scans its 32 elements by segment; the last lane of a segment adds to memory.
__global__ void seg_sum_sorted(const int* __restrict__ keys, const int* __restrict__ vals,
                               int* __restrict__ sums, int* __restrict__ counts, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & 31;

    int key = -1;
    int sum = 0;
    int cnt = 0;
    if (i < n) {
        key = keys[i];
        sum = vals[i];
        cnt = 1;
    }

    for (int d = 1; d < 32; d <<= 1) {
        const int k = __shfl_up(key, d);
        const int s = __shfl_up(sum, d);
        const int c = __shfl_up(cnt, d);
        if (lane >= d && k == key) {
            sum += s;
            cnt += c;
        }
    }

    const int next = __shfl_down(key, 1);
    const bool tail = lane == 31 || next != key;
    if (key >= 0 && tail) {
        atomicAdd(&sums[key], sum);
        atomicAdd(&counts[key], cnt);
    }
}
