#include <hip/hip_runtime.h>

// out = a + b in half precision, eight elements (16 bytes) at a time, and a
// scalar remainder for what is left.
typedef _Float16 half2_t __attribute__((ext_vector_type(2)));

struct alignas(16) half8_t {
    half2_t v[4];
};

__device__ inline half8_t add8(const half8_t& p, const half8_t& q)
{
    half8_t r;
#pragma unroll
    for (int i = 0; i < 4; ++i)
        r.v[i] = p.v[i] + q.v[i];
    return r;
}

__global__ void hadd_vec8(const _Float16* __restrict__ a,
                          const _Float16* __restrict__ b,
                          _Float16* __restrict__ out,
                          int n)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int groups = n / 8;
    const int rest = n - groups * 8;

    if (t < groups) {
        const half8_t p = ((const half8_t*)a)[t];
        const half8_t q = ((const half8_t*)b)[t];
        ((half8_t*)out)[t] = add8(p, q);
    } else if (t < groups + rest) {
        const int i = groups * 8 + (t - groups);
        out[i] = a[i] + b[i];
    }
}
