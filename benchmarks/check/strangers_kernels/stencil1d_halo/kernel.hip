#include <hip/hip_runtime.h>

// Seven-point weighted sum along a line; outside the line counts as zero.

constexpr int BLOCK = 128;
constexpr int RADIUS = 3;

__global__ void stencil_line(const float* __restrict__ in, const float* __restrict__ coef,
                             float* __restrict__ out, int n)
{
    __shared__ float s[BLOCK + 2 * RADIUS];

    const int tid = threadIdx.x;
    const int g = blockIdx.x * BLOCK + tid;
    const int l = tid + RADIUS;

    s[l] = g < n ? in[g] : 0.0f;
    if (tid < RADIUS) {
        const int left = g - RADIUS;
        const int right = g + BLOCK;
        s[tid] = left >= 0 ? in[left] : 0.0f;
        s[l + BLOCK] = right < n ? in[right] : 0.0f;
    }
    __syncthreads();

    if (g < n) {
        float acc = 0.0f;
        for (int k = -RADIUS; k <= RADIUS; ++k)
            acc += coef[k + RADIUS] * s[l + k];
        out[g] = acc;
    }
}
