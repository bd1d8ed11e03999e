#include <hip/hip_runtime.h>

// Byte copy for any offset and length. Bytes up to the first 16-byte boundary of
// the destination are copied singly, then whole 16-byte words (or, where source
// and destination are not aligned alike, bytes), then the bytes that remain.
typedef unsigned char u8;

__global__ void copy_bytes(u8* __restrict__ dst_base,
                           const u8* __restrict__ src_base,
                           int dst_off, int src_off, int bytes)
{
    u8* dst = dst_base + dst_off;
    const u8* src = src_base + src_off;
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int stride = gridDim.x * blockDim.x;

    const unsigned dst_mis = (unsigned)((size_t)dst & 15);
    const unsigned src_mis = (unsigned)((size_t)src & 15);

    if (dst_mis != src_mis) {
        for (int i = t; i < bytes; i += stride)
            dst[i] = src[i];
        return;
    }

    int head = (int)((16 - dst_mis) & 15);
    if (head > bytes)
        head = bytes;
    const int words = (bytes - head) / 16;
    const int tail = head + 16 * words;

    if (t < head)
        dst[t] = src[t];

    const uint4* from = (const uint4*)(src + head);
    uint4* to = (uint4*)(dst + head);
    for (int w = t; w < words; w += stride)
        to[w] = from[w];

    if (t < bytes - tail)
        dst[tail + t] = src[tail + t];
}
