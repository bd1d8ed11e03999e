#include <hip/hip_runtime.h>

__global__ void permutes(const unsigned *x, unsigned *out)
{
    const unsigned t = threadIdx.x, v = x[t];
    unsigned *row = out + 6 * t;
    row[0] = __builtin_amdgcn_permlane16(t, v, 0x76543210u, 0xfedcba98u, false, false);
    row[1] = __builtin_amdgcn_permlane16(t, v, 0x13579bdfu, 0x02468aceu, false, false);
    row[2] = __builtin_amdgcn_permlanex16(t, v, 0x13579bdfu, 0x02468aceu, false, true);
    row[3] = (unsigned)__builtin_amdgcn_ds_bpermute((int)(v << 2), (int)t);
    row[4] = (unsigned)__builtin_amdgcn_ds_permute((int)((t ^ 21) << 2), (int)v);
    row[5] = (unsigned)__builtin_amdgcn_ds_permute((int)((t & 6) << 2), (int)v);
}
