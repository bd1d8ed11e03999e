#include <hip/hip_runtime.h>

// CRC-32 (reflected, polynomial 0xEDB88320) of many records of differing length,
// one thread a record. The table of 256 words is built once per block in LDS.
#define POLY 0xEDB88320u

__global__ void crc32_records(const unsigned char* __restrict__ data,
                              const int* __restrict__ offset,   // records + 1
                              unsigned* __restrict__ crc,
                              int records)
{
    __shared__ unsigned table[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        unsigned v = (unsigned)i;
        for (int bit = 0; bit < 8; ++bit)
            v = (v & 1u) ? (v >> 1) ^ POLY : v >> 1;
        table[i] = v;
    }
    __syncthreads();

    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < records) {
        unsigned c = 0xffffffffu;
        const int end = offset[r + 1];
        for (int p = offset[r]; p < end; ++p)
            c = table[(c ^ data[p]) & 0xffu] ^ (c >> 8);
        crc[r] = ~c;
    }
}
