#include <hip/hip_runtime.h>

// Row-wise dot products of 16-bit integers, one wave per row. The wave folds
// by DPP shifts within its two rows of 16 lanes, then across them.

#define WAVES 2
#define ROW_SHR(k) (0x110 | (k))

__device__ int fold_wave(int v)
{
    // lane i takes lane i-k of its row of 16; what falls off the edge counts 0
    v += __builtin_amdgcn_update_dpp(0, v, ROW_SHR(1), 0xf, 0xf, true);
    v += __builtin_amdgcn_update_dpp(0, v, ROW_SHR(2), 0xf, 0xf, true);
    v += __builtin_amdgcn_update_dpp(0, v, ROW_SHR(4), 0xf, 0xf, true);
    v += __builtin_amdgcn_update_dpp(0, v, ROW_SHR(8), 0xf, 0xf, true);
    // lane 15 of the other row, handed to every lane of this one
    v += (int)__builtin_amdgcn_permlanex16(0u, (unsigned)v, 0xffffffffu,
                                           0xffffffffu, true, false);
    return v;  // the whole sum is in lanes 15 and 31
}

__global__ void row_dots(const short* __restrict__ a, const short* __restrict__ b,
                         int* __restrict__ out, int rows, int cols)
{
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.x * WAVES + (threadIdx.x >> 5);
    if (row >= rows) return;

    const short* pa = a + row * cols;
    const short* pb = b + row * cols;

    int acc = 0;
    for (int c = lane; c < cols; c += 32)
        acc += (int)pa[c] * (int)pb[c];

    acc = fold_wave(acc);
    if (lane == 31)
        out[row] = acc;
}
