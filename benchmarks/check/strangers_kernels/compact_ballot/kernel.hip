#include <hip/hip_runtime.h>

// Stream compaction: keep the elements below a threshold. Position inside the
// wave by ballot and popcount, wave offsets in LDS, one atomicAdd a block for
// the base. The blocks may land in any order, so beside the packed values every
// element that was kept gets a flag, and what was packed is summed up again.
#define THREADS 128
#define WAVES (THREADS / 32)

__global__ void __launch_bounds__(THREADS)
compact_below(const int* __restrict__ in, int n, int threshold,
              int* packed,
              unsigned* __restrict__ total,
              unsigned* __restrict__ hash,
              unsigned char* __restrict__ kept)
{
    __shared__ unsigned wave_offset[WAVES];
    __shared__ unsigned block_base;
    __shared__ unsigned block_count;

    const int i = blockIdx.x * THREADS + threadIdx.x;
    const int lane = threadIdx.x & 31;
    const int wave = threadIdx.x >> 5;

    const int value = i < n ? in[i] : 0;
    const bool keep = i < n && value < threshold;

    const unsigned votes = (unsigned)__ballot(keep);
    const unsigned before = (unsigned)__builtin_popcount(votes & ((1u << lane) - 1u));
    if (lane == 0)
        wave_offset[wave] = (unsigned)__builtin_popcount(votes);
    __syncthreads();

    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (int w = 0; w < WAVES; ++w) {
            const unsigned c = wave_offset[w];
            wave_offset[w] = sum;
            sum += c;
        }
        block_count = sum;
        block_base = atomicAdd(total, sum);
    }
    __syncthreads();

    if (i < n)
        kept[i] = keep ? 1 : 0;
    if (keep)
        packed[block_base + wave_offset[wave] + before] = value;
    __syncthreads();

    // the checksum is taken over what lies in this block's part of `packed`
    if (threadIdx.x < block_count) {
        const unsigned v = (unsigned)packed[block_base + threadIdx.x];
        atomicAdd(hash, (v ^ (v >> 15)) * 2246822519u + 1u);
    }
}
