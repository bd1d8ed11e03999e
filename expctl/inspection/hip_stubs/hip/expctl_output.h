// Output of the device is taken out, and said: a printf costs calls into ROCm's library, which is not here. A failed assertion traps.
#pragma once

#define EXPCTL_SAID(text) diagnose_if(true, text, "warning")
template <class... Arguments>
static inline __attribute__((device, always_inline, EXPCTL_SAID("expctl: printf prints nothing here"))) int printf(const char *, Arguments...) {
    return 0;
}
#undef EXPCTL_SAID
EXPCTL_DEVICE void __assert_fail(const char *, const char *, int, const char *) { __builtin_trap(); }
EXPCTL_DEVICE void abort() { __builtin_trap(); }
EXPCTL_DEVICE void __trap() { __builtin_trap(); }
EXPCTL_DEVICE void __nanosleep(unsigned) { __builtin_amdgcn_s_sleep(1); }
EXPCTL_DEVICE long long clock64() { return __builtin_readcyclecounter(); }
EXPCTL_DEVICE long long clock() { return __builtin_readcyclecounter(); }
EXPCTL_DEVICE long long wall_clock64() { return __builtin_readsteadycounter(); }
