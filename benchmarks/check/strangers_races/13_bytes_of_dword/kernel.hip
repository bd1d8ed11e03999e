#include <hip/hip_runtime.h>
// Two waves of each of two workgroups write the four different bytes of every dword.
__global__ void interleave(const unsigned char* x, unsigned char* out, int n) {
    int t = threadIdx.x;
    int b = blockIdx.x;
    int byte = 2 * b + (t >> 5);
    unsigned char v = x[b * n + t];
    out[4 * (t & 31) + byte] = (unsigned char)(v ^ 0x5a);
}
