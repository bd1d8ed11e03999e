#include <hip/hip_runtime.h>

__global__ void dots(const int *x, const int *y, const int *z, int *out, int n)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    const int a = x[t], b = y[t], c = z[t];
    int *row = out + 9 * t;
    row[0] = __builtin_amdgcn_sudot4(true, a, true, b, c, false);
    row[1] = __builtin_amdgcn_sudot4(false, a, true, b, c, true);
    row[2] = __builtin_amdgcn_sudot8(true, a, false, b, c, false);
    row[3] = __builtin_amdgcn_sudot8(false, a, false, b, c, true);
    row[4] = (int)__builtin_amdgcn_udot4((unsigned)a, (unsigned)b, (unsigned)c, false);
    row[5] = (int)__builtin_amdgcn_udot4((unsigned)a, (unsigned)b, (unsigned)c, true);
    row[6] = (int)__byte_perm((unsigned)a, (unsigned)b, 0x7142);
    row[7] = __mulhi(a, b) ^ (int)__umulhi((unsigned)a, (unsigned)c);
    row[8] = __mul24(a, b) + __clz(a >> (b & 15)) + __ffs(c) + (int)__brev((unsigned)a);
}
