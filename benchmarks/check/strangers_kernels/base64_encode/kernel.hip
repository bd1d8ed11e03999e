#include <hip/hip_runtime.h>

// Base64: each thread turns three input bytes into four characters; the last
// thread pads with '='. The alphabet is copied to LDS first.
__global__ void base64_encode(const unsigned char* __restrict__ bytes,
                              const unsigned char* __restrict__ alphabet,
                              unsigned char* __restrict__ text,
                              int n)
{
    __shared__ unsigned char table[64];
    if (threadIdx.x < 64)
        table[threadIdx.x] = alphabet[threadIdx.x];
    __syncthreads();

    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = 3 * t;
    if (first >= n)
        return;

    const int have = n - first < 3 ? n - first : 3;
    unsigned group = (unsigned)bytes[first] << 16;
    if (have > 1)
        group |= (unsigned)bytes[first + 1] << 8;
    if (have > 2)
        group |= (unsigned)bytes[first + 2];

    unsigned char c[4];
    c[0] = table[group >> 18];
    c[1] = table[(group >> 12) & 63u];
    c[2] = have > 1 ? table[(group >> 6) & 63u] : (unsigned char)'=';
    c[3] = have > 2 ? table[group & 63u] : (unsigned char)'=';
    for (int i = 0; i < 4; ++i)
        text[4 * t + i] = c[i];
}
