#include <hip/hip_runtime.h>

// out[t] = table[ids[t]]; ids outside of the vocabulary and the pad id give zeros
__global__ void embed_gather(const int* __restrict__ ids, const int* __restrict__ table,
                             int* __restrict__ out, int tokens, int dim, int vocab, int pad_id)
{
    const int t = blockIdx.x * blockDim.y + threadIdx.y;
    if (t < tokens) {
        const int id = ids[t];
        const bool known = id != pad_id && (unsigned int)id < (unsigned int)vocab;
        for (int d = threadIdx.x; d < dim; d += blockDim.x)
            out[t * dim + d] = known ? table[id * dim + d] : 0;
    }
}

// The backward pass in fixed point: acc[ids[t]] += grad[t], hits[ids[t]] += 1
__global__ void embed_scatter_add(const int* __restrict__ ids, const int* __restrict__ grad,
                                  int* __restrict__ acc, int* __restrict__ hits,
                                  int tokens, int dim, int vocab, int pad_id)
{
    const int t = blockIdx.x * blockDim.y + threadIdx.y;
    if (t >= tokens)
        return;

    const int word = ids[t];
    if (word == pad_id || word < 0 || word >= vocab)
        return;

    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        atomicAdd(&acc[word * dim + d], grad[t * dim + d]);
    }
    if (threadIdx.x == 0)
        atomicAdd(&hits[word], 1);
}
