#include <hip/hip_runtime.h>

// Every DPP control of gfx11, with and without a zero from outside, with masked rows and banks.
#define MOVED(control) \
    *row++ = __builtin_amdgcn_update_dpp(t, v, control, 0xf, 0xf, true); \
    *row++ = __builtin_amdgcn_update_dpp(t, v, control, 0xf, 0xf, false); \
    *row++ = __builtin_amdgcn_update_dpp(t, v, control, 0x1, 0xf, true); \
    *row++ = __builtin_amdgcn_update_dpp(t, v, control, 0xf, 0x6, false);

__global__ void moved(const int *x, int *out)
{
    const int t = threadIdx.x, v = x[t];
    int *row = out + 58 * t;
    MOVED(0x1b)   // quad_perm:[3,2,1,0]
    MOVED(0x4e)   // quad_perm:[2,3,0,1]
    MOVED(0xd2)   // quad_perm:[2,0,1,3]
    MOVED(0x101)  // row_shl:1
    MOVED(0x107)
    MOVED(0x111)  // row_shr:1
    MOVED(0x11f)
    MOVED(0x121)  // row_ror:1
    MOVED(0x12a)
    MOVED(0x140)  // row_mirror
    MOVED(0x141)  // row_half_mirror
    MOVED(0x15b)  // row_share:11
    MOVED(0x163)  // row_xmask:3
    MOVED(0x16f)
    *row++ = __builtin_amdgcn_mov_dpp8(v, 0xfac688);
    *row++ = __builtin_amdgcn_mov_dpp8(v, 0x053977);
}
