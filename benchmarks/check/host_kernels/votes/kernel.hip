#include <hip/hip_runtime.h>

// Votes of the lanes of a branch and of a loop that lanes leave one by one; the last wave is short.
__global__ void votes(const unsigned *x, unsigned *out)
{
    const unsigned t = threadIdx.x, v = x[t];
    unsigned *row = out + 8 * t;
    row[0] = (unsigned)__ballot(v & 1);
    row[1] = __any((v & 0xff) == 0x11) + 2 * __all(v < 0xffffffffu);
    row[2] = row[3] = row[4] = 0;
    if (v & 2) {
        row[2] = (unsigned)__ballot(v & 4);
        row[3] = (unsigned)__activemask();
        if (v & 8) row[4] = (unsigned)__ballot(v & 16);
    }
    unsigned turns = 0;
    for (unsigned left = v & 7; left > 0; --left) turns = 31 * turns + __popc((unsigned)__ballot(v & left));
    row[5] = turns;
    row[6] = __builtin_amdgcn_readfirstlane(v) ^ __builtin_amdgcn_readlane(v, 3);
    row[7] = __builtin_amdgcn_mbcnt_hi(v, __builtin_amdgcn_mbcnt_lo(v, t));
}
