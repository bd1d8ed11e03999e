#include <hip/hip_runtime.h>

#define NT 64
#define VT 4
#define TILE (NT * VT)

// How many of the first `diag` merged keys come from a (of equal keys, a's go first).
__device__ int split_at(const int* a, int na, const int* b, int nb, int diag)
{
    int lo = diag > nb ? diag - nb : 0;
    int hi = diag < na ? diag : na;
    while (lo < hi) {
        const int mid = (lo + hi) >> 1;
        if (a[mid] <= b[diag - 1 - mid])
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

// Merge path: a block makes TILE outputs, a thread VT of them.
__global__ void merge_sorted(const int* __restrict__ a, const int* __restrict__ b,
                             int* __restrict__ out, int na, int nb)
{
    __shared__ int part[2];
    __shared__ int keys[TILE];

    const int tid = threadIdx.x;
    const int total = na + nb;
    const int d0 = blockIdx.x * TILE;
    const int d1 = d0 + TILE < total ? d0 + TILE : total;

    if (tid < 2)
        part[tid] = split_at(a, na, b, nb, tid == 0 ? d0 : d1);
    __syncthreads();  // tile's ends known

    const int a0 = part[0];
    const int b0 = d0 - a0;
    const int la = part[1] - a0;
    const int count = d1 - d0;
    const int lb = count - la;
    for (int i = tid; i < count; i += NT) {
        if (i < la)
            keys[i] = a[a0 + i];
        else
            keys[i] = b[b0 + i - la];
    }
    __syncthreads();  // tile loaded

    const int diag = tid * VT < count ? tid * VT : count;
    int ia = split_at(keys, la, keys + la, lb, diag);
    int ib = diag - ia;
    for (int v = 0; v < VT && diag + v < count; ++v) {
        const bool from_a = ib >= lb || (ia < la && keys[ia] <= keys[la + ib]);
        out[d0 + diag + v] = from_a ? keys[ia] : keys[la + ib];
        if (from_a)
            ++ia;
        else
            ++ib;
    }
}
