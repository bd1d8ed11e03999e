// Atomic operations: nothing comes between, for a fiber runs until it waits.
#pragma once

namespace expctl_host {
template <class T> struct Same {
    typedef T type;
};
}  // namespace expctl_host

#define HOST_ATOMIC(name, changed) \
    template <class T> HOST_INLINE T name(T *at, typename expctl_host::Same<T>::type value) { \
        const T before = *at; \
        *at = changed; \
        return before; \
    }
HOST_ATOMIC(atomicAdd, before + value)
HOST_ATOMIC(unsafeAtomicAdd, before + value)
HOST_ATOMIC(atomicSub, before - value)
HOST_ATOMIC(atomicMin, value < before ? value : before)
HOST_ATOMIC(atomicMax, value > before ? value : before)
HOST_ATOMIC(atomicAnd, before & value)
HOST_ATOMIC(atomicOr, before | value)
HOST_ATOMIC(atomicXor, before ^ value)
HOST_ATOMIC(atomicExch, value)
HOST_ATOMIC(atomicInc, before >= value ? 0 : before + 1)
HOST_ATOMIC(atomicDec, before == 0 || before > value ? value : before - 1)
#undef HOST_ATOMIC

template <class T>
HOST_INLINE T atomicCAS(T *at, typename expctl_host::Same<T>::type expected, typename expctl_host::Same<T>::type wanted) {
    const T before = *at;
    if (before == expected) *at = wanted;
    return before;
}
template <class T> HOST_INLINE T __ldg(const T *at) { return *at; }
