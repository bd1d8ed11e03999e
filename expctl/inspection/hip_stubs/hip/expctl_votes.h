// Barriers that also count: over all threads of the workgroup, through four bytes of LDS of their own.
#pragma once

template <class F> EXPCTL_DEVICE int expctl_vote(int initial, F add) {
    __shared__ static int found;
    __syncthreads();
    if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0) found = initial;
    __syncthreads();
    add(&found);
    __syncthreads();
    return found;
}
EXPCTL_DEVICE int __syncthreads_count(int predicate) {
    return expctl_vote(0, [=](int *found) { if (predicate) atomicAdd(found, 1); });
}
EXPCTL_DEVICE int __syncthreads_or(int predicate) {
    return expctl_vote(0, [=](int *found) { if (predicate) atomicOr(found, 1); });
}
EXPCTL_DEVICE int __syncthreads_and(int predicate) {
    return expctl_vote(1, [=](int *found) { if (!predicate) atomicAnd(found, 0); });
}
