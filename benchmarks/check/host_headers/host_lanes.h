// Values from other lanes of the wave. A lane that has ended, or is somewhere else in the code, gives zero.
#pragma once

namespace expctl_host {

HOST_INLINE int lane() { return self->lane; }

template <class T> HOST_INLINE T from_lane(T mine, int lane) {
    const Lanes<T> all = gathered(mine);
    return all.has(lane) ? all.value[lane] : T();
}

// The lane from which a DPP control takes the value of `lane`, -1 if that lies outside of the row of 16.
static int dpp_source(int lane, int control) {
    const int row = lane & ~15, at = lane & 15, by = control & 15;
    if (control < 0x100) return (lane & ~3) + (control >> 2 * (lane & 3) & 3);  // quad_perm
    if (control == 0x140) return row + 15 - at;                                 // row_mirror
    if (control == 0x141) return (lane & ~7) + 7 - (lane & 7);                  // row_half_mirror
    switch (control >> 4) {
    case 0x10: return at + by < 16 ? lane + by : -1;  // row_shl
    case 0x11: return at >= by ? lane - by : -1;      // row_shr
    case 0x12: return row + (at - by & 15);           // row_ror
    case 0x15: return row + by;                       // row_share
    case 0x16: return row + (at ^ by);                // row_xmask
    default: refuse("a DPP control that gfx11 doesn't have");
    }
}

static int swizzle_source(int lane, int pattern) {
    if ((pattern & 0xff00) == 0x8000) return (lane & ~3) + (pattern >> 2 * (lane & 3) & 3);
    if (pattern & 0x8000) refuse("a pattern of ds_swizzle that is not done here");
    return ((lane & pattern) | pattern >> 5) & 31 ^ (pattern >> 10 & 31);
}

template <class T> HOST_INLINE T row_permuted(T old, T mine, unsigned low, unsigned high, int flip, bool zero) {
    const Lanes<T> all = gathered(mine);
    const int at = lane() & 15, from = (lane() & 16 ^ flip) + ((at < 8 ? low >> 4 * at : high >> 4 * (at - 8)) & 15);
    return all.has(from) ? all.value[from] : zero ? T() : old;
}

}  // namespace expctl_host

HOST_INLINE unsigned __lane_id() { return expctl_host::lane(); }

template <class T> HOST_INLINE T __shfl(T value, int lane, int width = warpSize) {
    const int first = expctl_host::lane() & ~(width - 1);
    return expctl_host::from_lane(value, first + (lane & (width - 1)));
}
template <class T> HOST_INLINE T __shfl_up(T value, unsigned by, int width = warpSize) {
    const int mine = expctl_host::lane(), at = mine & (width - 1);
    return expctl_host::from_lane(value, at >= int(by) ? mine - int(by) : mine);
}
template <class T> HOST_INLINE T __shfl_down(T value, unsigned by, int width = warpSize) {
    const int mine = expctl_host::lane(), at = mine & (width - 1);
    return expctl_host::from_lane(value, at + int(by) < width ? mine + int(by) : mine);
}
template <class T> HOST_INLINE T __shfl_xor(T value, int mask, int width = warpSize) {
    const int mine = expctl_host::lane(), other = mine ^ mask;
    return expctl_host::from_lane(value, other < (mine & ~(width - 1)) + width ? other : mine);
}
#define HOST_SYNC(name, T, parameter) \
    template <class M, class V> HOST_INLINE V name##_sync(M, V value, parameter, int width = warpSize) { \
        return name(value, by, width); \
    }
HOST_SYNC(__shfl, V, int by)
HOST_SYNC(__shfl_up, V, unsigned by)
HOST_SYNC(__shfl_down, V, unsigned by)
HOST_SYNC(__shfl_xor, V, int by)
#undef HOST_SYNC

HOST_INLINE unsigned long long __ballot(int predicate) {
    const auto all = expctl_host::gathered(predicate != 0);
    unsigned votes = 0;
    for (int lane = 0; lane < warpSize; ++lane) votes |= unsigned(all.has(lane) && all.value[lane]) << lane;
    return votes;
}
HOST_INLINE unsigned long long __activemask() { return __ballot(1); }
HOST_INLINE int __any(int predicate) { return __ballot(predicate) != 0; }
HOST_INLINE int __all(int predicate) { return __ballot(!predicate) == 0; }
template <class M> HOST_INLINE unsigned long long __ballot_sync(M, int predicate) { return __ballot(predicate); }
template <class M> HOST_INLINE int __any_sync(M, int predicate) { return __any(predicate); }
template <class M> HOST_INLINE int __all_sync(M, int predicate) { return __all(predicate); }

HOST_INLINE unsigned __builtin_amdgcn_ballot_w32(bool predicate) { return unsigned(__ballot(predicate)); }
HOST_INLINE unsigned __builtin_amdgcn_mbcnt_lo(unsigned mask, unsigned add) {
    return add + __builtin_popcount(mask & ((1u << expctl_host::lane()) - 1));
}
HOST_INLINE unsigned __builtin_amdgcn_mbcnt_hi(unsigned, unsigned add) { return add; }
template <class T> HOST_INLINE T __builtin_amdgcn_readlane(T value, int lane) { return expctl_host::from_lane(value, lane & 31); }
template <class T> HOST_INLINE T __builtin_amdgcn_readfirstlane(T value) {
    const auto all = expctl_host::gathered(value);
    return all.value[__builtin_ctz(all.active)];
}
HOST_INLINE int __builtin_amdgcn_ds_bpermute(int at, int value) { return expctl_host::from_lane(value, at >> 2 & 31); }
HOST_INLINE int __builtin_amdgcn_ds_permute(int at, int value) {
    struct Sent {
        int at, value;
    };
    const auto all = expctl_host::gathered(Sent{at >> 2 & 31, value});
    int found = 0;
    for (int lane = 0; lane < warpSize; ++lane)
        if (all.has(lane) && all.value[lane].at == expctl_host::lane()) found = all.value[lane].value;
    return found;
}
HOST_INLINE int __builtin_amdgcn_ds_swizzle(int value, int pattern) {
    return expctl_host::from_lane(value, expctl_host::swizzle_source(expctl_host::lane(), pattern));
}
template <class T>
HOST_INLINE T __builtin_amdgcn_update_dpp(T old, T value, int control, int rows, int banks, bool zero_outside) {
    const auto all = expctl_host::gathered(value);
    const int lane = expctl_host::lane(), from = expctl_host::dpp_source(lane, control);
    if (!(rows >> (lane >> 4) & 1) || !(banks >> (lane >> 2 & 3) & 1)) return old;
    return all.has(from) ? all.value[from] : zero_outside ? T() : old;
}
template <class T> HOST_INLINE T __builtin_amdgcn_mov_dpp(T value, int control, int rows, int banks, bool zero_outside) {
    return __builtin_amdgcn_update_dpp(T(), value, control, rows, banks, zero_outside);
}
template <class T> HOST_INLINE T __builtin_amdgcn_mov_dpp8(T value, int lanes) {
    const int lane = expctl_host::lane();
    return expctl_host::from_lane(value, (lane & ~7) + (lanes >> 3 * (lane & 7) & 7));
}
// A lane that doesn't take part gives its value all the same where `fetch` is set; which it would be is not known here.
HOST_INLINE unsigned __builtin_amdgcn_permlane16(unsigned old, unsigned value, unsigned low, unsigned high, bool, bool zero) {
    return expctl_host::row_permuted(old, value, low, high, 0, zero);
}
HOST_INLINE unsigned __builtin_amdgcn_permlanex16(unsigned old, unsigned value, unsigned low, unsigned high, bool, bool zero) {
    return expctl_host::row_permuted(old, value, low, high, 16, zero);
}
