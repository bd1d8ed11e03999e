// Atomic operations on memory of the device or the workgroup; each returns what was there before.
#pragma once

#define EXPCTL_ATOMIC(name, builtin) \
    template <class T> EXPCTL_DEVICE T name(T *at, typename expctl_same<T>::type value) { \
        return builtin(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); \
    }
template <class T> struct expctl_same { typedef T type; };

EXPCTL_ATOMIC(atomicAdd, __hip_atomic_fetch_add)
EXPCTL_ATOMIC(unsafeAtomicAdd, __hip_atomic_fetch_add)
EXPCTL_ATOMIC(atomicSub, __hip_atomic_fetch_sub)
EXPCTL_ATOMIC(atomicMin, __hip_atomic_fetch_min)
EXPCTL_ATOMIC(atomicMax, __hip_atomic_fetch_max)
EXPCTL_ATOMIC(atomicAnd, __hip_atomic_fetch_and)
EXPCTL_ATOMIC(atomicOr, __hip_atomic_fetch_or)
EXPCTL_ATOMIC(atomicXor, __hip_atomic_fetch_xor)
EXPCTL_ATOMIC(atomicExch, __hip_atomic_exchange)
#undef EXPCTL_ATOMIC

template <class T>
EXPCTL_DEVICE T atomicCAS(T *at, typename expctl_same<T>::type expected, typename expctl_same<T>::type wanted) {
    __hip_atomic_compare_exchange_strong(at, &expected, wanted, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    return expected;
}
template <class T> EXPCTL_DEVICE T __ldg(const T *at) { return *at; }
