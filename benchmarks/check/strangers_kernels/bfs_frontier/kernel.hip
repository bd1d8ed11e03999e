#include <hip/hip_runtime.h>

// One top-down BFS step. Each thread takes one vertex of the frontier; a vertex
// is claimed by the thread whose compare-and-swap changes its distance, and only
// the claimant appends it to the next frontier. The order of the new queue is
// not defined, so every claimed vertex also gets a mark and adds to a checksum.
#define UNSEEN (-1)

__global__ void bfs_step(const int* __restrict__ row_start,
                         const int* __restrict__ neighbours,
                         const int* __restrict__ frontier,
                         int frontier_size,
                         int level,
                         int* distance,
                         int* next,
                         unsigned* next_size,
                         unsigned* checksum,
                         unsigned char* mark)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= frontier_size)
        return;

    const int v = frontier[t];
    for (int e = row_start[v]; e < row_start[v + 1]; ++e) {
        const int w = neighbours[e];
        if (atomicCAS(&distance[w], UNSEEN, level + 1) == UNSEEN) {
            const unsigned slot = atomicAdd(next_size, 1u);
            next[slot] = w;
            atomicAdd(checksum, (unsigned)next[slot] * 2654435761u + 1u);
            mark[w] = 1;
        }
    }
}
