// Values from other lanes of the wave, by ds_bpermute; ballots and votes.
#pragma once

EXPCTL_DEVICE unsigned __lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }

// Any type whose size is a multiple of four bytes, or smaller than four.
template <class T> EXPCTL_DEVICE T expctl_from_lane(T value, int lane) {
    constexpr int words = (sizeof(T) + 3) / 4;
    int bits[words] = {};
    __builtin_memcpy(bits, &value, sizeof(T));
    for (int i = 0; i < words; ++i) bits[i] = __builtin_amdgcn_ds_bpermute(lane << 2, bits[i]);
    __builtin_memcpy(&value, bits, sizeof(T));
    return value;
}
template <class T> EXPCTL_DEVICE T __shfl(T value, int lane, int width = warpSize) {
    int self = __lane_id();
    return expctl_from_lane(value, (lane & (width - 1)) + (self & ~(width - 1)));
}
template <class T> EXPCTL_DEVICE T __shfl_up(T value, unsigned delta, int width = warpSize) {
    int self = __lane_id(), lane = self - int(delta);
    return expctl_from_lane(value, lane < (self & ~(width - 1)) ? self : lane);
}
template <class T> EXPCTL_DEVICE T __shfl_down(T value, unsigned delta, int width = warpSize) {
    int self = __lane_id();
    return expctl_from_lane(value, int((self & (width - 1)) + delta) >= width ? self : self + int(delta));
}
template <class T> EXPCTL_DEVICE T __shfl_xor(T value, int mask, int width = warpSize) {
    int self = __lane_id(), lane = self ^ mask;
    return expctl_from_lane(value, lane >= ((self + width) & ~(width - 1)) ? self : lane);
}
template <class M, class T> EXPCTL_DEVICE T __shfl_sync(M, T value, int lane, int width = warpSize) { return __shfl(value, lane, width); }
template <class M, class T> EXPCTL_DEVICE T __shfl_up_sync(M, T value, unsigned delta, int width = warpSize) { return __shfl_up(value, delta, width); }
template <class M, class T> EXPCTL_DEVICE T __shfl_down_sync(M, T value, unsigned delta, int width = warpSize) { return __shfl_down(value, delta, width); }
template <class M, class T> EXPCTL_DEVICE T __shfl_xor_sync(M, T value, int mask, int width = warpSize) { return __shfl_xor(value, mask, width); }

EXPCTL_DEVICE unsigned long long __ballot(int predicate) { return __builtin_amdgcn_uicmp(unsigned(predicate), 0u, 33); }  // 33: not equal
EXPCTL_DEVICE unsigned long long __activemask() { return __ballot(1); }
EXPCTL_DEVICE int __any(int predicate) { return __ballot(predicate) != 0; }
EXPCTL_DEVICE int __all(int predicate) { return __ballot(!predicate) == 0; }
template <class M> EXPCTL_DEVICE unsigned long long __ballot_sync(M, int predicate) { return __ballot(predicate); }
template <class M> EXPCTL_DEVICE int __any_sync(M, int predicate) { return __any(predicate); }
template <class M> EXPCTL_DEVICE int __all_sync(M, int predicate) { return __all(predicate); }

EXPCTL_DEVICE unsigned long long __lanemask_lt() { return (1ull << __lane_id()) - 1; }
EXPCTL_DEVICE unsigned long long __lanemask_eq() { return 1ull << __lane_id(); }
EXPCTL_DEVICE unsigned long long __lanemask_gt() { return ~((2ull << __lane_id()) - 1); }

// The value of the first active lane; the active lanes whose value is mine; whether all of them have one value.
template <class T> EXPCTL_DEVICE T expctl_from_first(T value) {
    constexpr int words = (sizeof(T) + 3) / 4;
    int bits[words] = {};
    __builtin_memcpy(bits, &value, sizeof(T));
    for (int i = 0; i < words; ++i) bits[i] = __builtin_amdgcn_readfirstlane(bits[i]);
    __builtin_memcpy(&value, bits, sizeof(T));
    return value;
}
template <class T> EXPCTL_DEVICE unsigned long long __match_any(T value) {
    unsigned long long mine = 0;
    for (bool done = false; !done;) {
        done = expctl_from_first(value) == value;
        if (done) mine = __activemask();
    }
    return mine;
}
template <class T> EXPCTL_DEVICE unsigned long long __match_all(T value, int *all) {
    *all = __all(expctl_from_first(value) == value);
    return *all ? __activemask() : 0;
}
template <class M, class T> EXPCTL_DEVICE unsigned long long __match_any_sync(M, T value) { return __match_any(value); }
template <class M, class T> EXPCTL_DEVICE unsigned long long __match_all_sync(M, T value, int *all) { return __match_all(value, all); }

// Over the lanes of a mask, in their order.
#define EXPCTL_REDUCE(name, ...) \
    template <class M, class T> EXPCTL_DEVICE T name(M mask, T value) { \
        unsigned long long left = (unsigned long long)mask & __activemask(); \
        T a = expctl_from_lane(value, __builtin_ctzll(left)); \
        for (left &= left - 1; left != 0; left &= left - 1) { \
            T b = expctl_from_lane(value, __builtin_ctzll(left)); \
            a = __VA_ARGS__; \
        } \
        return a; \
    }
EXPCTL_REDUCE(__reduce_add_sync, a + b)
EXPCTL_REDUCE(__reduce_min_sync, b < a ? b : a)
EXPCTL_REDUCE(__reduce_max_sync, a < b ? b : a)
EXPCTL_REDUCE(__reduce_and_sync, a & b)
EXPCTL_REDUCE(__reduce_or_sync, a | b)
EXPCTL_REDUCE(__reduce_xor_sync, a ^ b)
#undef EXPCTL_REDUCE
