// Atomic operations on memory of the device or the workgroup; each returns what was there before. Also loads and stores with hints.
#pragma once

template <class T> struct expctl_same { typedef T type; };
template <class T> struct expctl_same<volatile T> { typedef T type; };

#define EXPCTL_ATOMIC_AT(name, builtin, scope) \
    template <class T> EXPCTL_DEVICE typename expctl_same<T>::type name(T *at, typename expctl_same<T>::type value) { \
        return builtin(at, value, __ATOMIC_RELAXED, scope); \
    }
#define EXPCTL_ATOMIC(name, builtin) \
    EXPCTL_ATOMIC_AT(name, builtin, __HIP_MEMORY_SCOPE_AGENT) \
    EXPCTL_ATOMIC_AT(name##_block, builtin, __HIP_MEMORY_SCOPE_WORKGROUP) \
    EXPCTL_ATOMIC_AT(name##_system, builtin, __HIP_MEMORY_SCOPE_SYSTEM)
EXPCTL_ATOMIC(atomicAdd, __hip_atomic_fetch_add)
EXPCTL_ATOMIC_AT(unsafeAtomicAdd, __hip_atomic_fetch_add, __HIP_MEMORY_SCOPE_AGENT)
EXPCTL_ATOMIC_AT(safeAtomicAdd, __hip_atomic_fetch_add, __HIP_MEMORY_SCOPE_AGENT)
EXPCTL_ATOMIC_AT(atomicAddNoRet, __hip_atomic_fetch_add, __HIP_MEMORY_SCOPE_AGENT)
EXPCTL_ATOMIC(atomicSub, __hip_atomic_fetch_sub)
EXPCTL_ATOMIC(atomicMin, __hip_atomic_fetch_min)
EXPCTL_ATOMIC(atomicMax, __hip_atomic_fetch_max)
EXPCTL_ATOMIC_AT(unsafeAtomicMin, __hip_atomic_fetch_min, __HIP_MEMORY_SCOPE_AGENT)
EXPCTL_ATOMIC_AT(unsafeAtomicMax, __hip_atomic_fetch_max, __HIP_MEMORY_SCOPE_AGENT)
EXPCTL_ATOMIC(atomicAnd, __hip_atomic_fetch_and)
EXPCTL_ATOMIC(atomicOr, __hip_atomic_fetch_or)
EXPCTL_ATOMIC(atomicXor, __hip_atomic_fetch_xor)
EXPCTL_ATOMIC(atomicExch, __hip_atomic_exchange)
#undef EXPCTL_ATOMIC
#undef EXPCTL_ATOMIC_AT

#define EXPCTL_CAS(name, scope) \
    template <class T> \
    EXPCTL_DEVICE typename expctl_same<T>::type name(T *at, typename expctl_same<T>::type expected, typename expctl_same<T>::type wanted) { \
        __hip_atomic_compare_exchange_strong(at, &expected, wanted, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope); \
        return expected; \
    }
EXPCTL_CAS(atomicCAS, __HIP_MEMORY_SCOPE_AGENT)
EXPCTL_CAS(atomicCAS_block, __HIP_MEMORY_SCOPE_WORKGROUP)
EXPCTL_CAS(atomicCAS_system, __HIP_MEMORY_SCOPE_SYSTEM)
#undef EXPCTL_CAS

// What `change` makes of memory, one thread after the other.
template <class T, class F> EXPCTL_DEVICE T expctl_atomic(T *at, F change) {
    T seen = __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT), before;
    do {
        before = seen;
        seen = atomicCAS(at, before, change(before));
    } while (seen != before);
    return before;
}
EXPCTL_DEVICE unsigned atomicInc(unsigned *at, unsigned most) {
    return expctl_atomic(at, [most](unsigned was) { return was >= most ? 0 : was + 1; });
}
EXPCTL_DEVICE unsigned atomicDec(unsigned *at, unsigned most) {
    return expctl_atomic(at, [most](unsigned was) { return was == 0 || was > most ? most : was - 1; });
}

#define EXPCTL_LOAD(name) \
    template <class T> EXPCTL_DEVICE T name(const T *at) { return *at; }
EXPCTL_LOAD(__ldg)
EXPCTL_LOAD(__ldca)
EXPCTL_LOAD(__ldcg)
EXPCTL_LOAD(__ldcs)
EXPCTL_LOAD(__ldlu)
EXPCTL_LOAD(__ldcv)
#undef EXPCTL_LOAD
#define EXPCTL_STORE(name) \
    template <class T> EXPCTL_DEVICE void name(T *at, typename expctl_same<T>::type value) { *at = value; }
EXPCTL_STORE(__stwb)
EXPCTL_STORE(__stcg)
EXPCTL_STORE(__stcs)
EXPCTL_STORE(__stwt)
#undef EXPCTL_STORE
