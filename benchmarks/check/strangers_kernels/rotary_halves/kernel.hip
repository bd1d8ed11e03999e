#include <hip/hip_runtime.h>

// Rotary embedding, halves layout: element i of the first half of a head turns
// with element i of the second half, by the angle of the token's position.

struct Pair {
    float first;
    float second;
};

__device__ Pair turn(float a, float b, float c, float s)
{
    Pair p;
    p.first = a * c - b * s;
    p.second = a * s + b * c;
    return p;
}

__global__ void rotary(float* q, const int* positions, const float* cos_table,
                       const float* sin_table, float* out, int tokens, int heads, int half)
{
    const int total = tokens * heads * half;
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= total)
        return;

    const int i = idx % half;
    const int head = idx / half;  // counted over all tokens
    const int token = head / heads;
    const int pos = positions[token];

    const int lo = head * 2 * half + i;
    const int hi = lo + half;
    const Pair p = turn(q[lo], q[hi], cos_table[pos * half + i], sin_table[pos * half + i]);

    out[lo] = p.first;
    out[hi] = p.second;
}
