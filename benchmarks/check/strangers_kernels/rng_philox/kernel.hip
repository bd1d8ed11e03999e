#include <hip/hip_runtime.h>

// Counter-based generator (Philox, 4 words, 10 rounds): thread t makes the four
// words of counter (t, 0, stream, 0) and stores as many as still fit.
#define PHILOX_ROUNDS 10

__device__ inline unsigned mulhi(unsigned a, unsigned b)
{
    return (unsigned)(((unsigned long long)a * (unsigned long long)b) >> 32);
}

__device__ inline void philox_round(unsigned (&c)[4], unsigned k0, unsigned k1)
{
    const unsigned m0 = 0xD2511F53u, m1 = 0xCD9E8D57u;
    unsigned h0 = mulhi(m0, c[0]), l0 = m0 * c[0];
    unsigned h1 = mulhi(m1, c[2]), l1 = m1 * c[2];
    c[0] = h1 ^ c[1] ^ k0;
    c[1] = l1;
    c[2] = h0 ^ c[3] ^ k1;
    c[3] = l0;
}

__global__ void philox_fill(unsigned* __restrict__ out, int n,
                            unsigned seed_lo, unsigned seed_hi, unsigned stream)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = 4 * t;
    if (first >= n)
        return;

    unsigned c[4] = {(unsigned)t, 0u, stream, 0u};
    unsigned k0 = seed_lo, k1 = seed_hi;
#pragma unroll
    for (int r = 0; r < PHILOX_ROUNDS; ++r) {
        philox_round(c, k0, k1);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }

#pragma unroll
    for (int j = 0; j < 4; ++j)
        if (first + j < n)
            out[first + j] = c[j];
}
