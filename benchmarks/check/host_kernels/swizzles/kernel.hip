#include <hip/hip_runtime.h>

__global__ void swizzles(const int *x, int *out)
{
    const int t = threadIdx.x, v = x[t];
    int *row = out + 5 * t;
    row[0] = __builtin_amdgcn_ds_swizzle(v, 0x041f);  // exclusive or with 1
    row[1] = __builtin_amdgcn_ds_swizzle(v, 0x7c1f);  // the wave backward
    row[2] = __builtin_amdgcn_ds_swizzle(v, 0x00b0);  // lane 5 of each half for all of it
    row[3] = __builtin_amdgcn_ds_swizzle(v, 0x801b);  // quads backward
    row[4] = __builtin_amdgcn_ds_swizzle(v, 0x1cd5);
}
