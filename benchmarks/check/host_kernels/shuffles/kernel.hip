#include <hip/hip_runtime.h>

// Every shuffle at several widths, of types of 1 to 8 bytes, and among the lanes of a branch.
__global__ void shuffles(const int *x, int *out, int columns)
{
    const int t = threadIdx.x, lane = t & 31, v = x[t];
    int *row = out + t * columns;
    for (int width = 32; width >= 2; width /= 2) {
        *row++ = __shfl(v, 3 * lane + 1, width);
        *row++ = __shfl_up(v, width / 2, width);
        *row++ = __shfl_down(v, width / 4 + 1, width);
        *row++ = __shfl_xor(v, 5, width);
    }
    *row++ = (int)__shfl((unsigned char)v, 7);
    *row++ = (int)(__shfl_xor((long long)v * v, 9) >> 16);
    *row++ = __float_as_int(__shfl_down((float)v, 2));
    *row++ = (int)__double_as_longlong(__shfl_up(__longlong_as_double((long long)v << 8), 1));
    int inner = 0;
    if (lane < 16) inner = __shfl_xor(v, 8);
    *row++ = inner + __shfl(v, 31 - lane);
}
