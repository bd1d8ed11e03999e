"""What root gives up for a child. For anybody else this changes nothing. Numbers are those of linux/capability.h."""

import ctypes

from expctl.launcher.kernel import checked

VERSION_3 = 0x20080522
FILES = (0, 1, 2, 3)
"""Of files that belong to somebody else (DAC, owner): walls of paths stand all the same, and a build may need them."""
LOCK_MEMORY, NICE = 14, 23
TRACE, ADMINISTER, PERFORMANCE = 19, 21, 38
"""What reading a GPU's counters takes."""

_libc = ctypes.CDLL(None, use_errno=True)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Half(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def keep_few(*, counters: bool) -> None:
    """Drop every capability but those that steps need: no mounts, no clock, no devices, no other process' memory.

    Together with `no new privileges` an exec doesn't bring them back.
    """
    kept = sum(1 << number for number in (*FILES, LOCK_MEMORY, NICE, *((TRACE, ADMINISTER, PERFORMANCE) if counters else ())))
    header, halves = _Header(version=VERSION_3), (_Half * 2)()
    checked(_libc.capget(ctypes.byref(header), halves), "capget")
    for index, half in enumerate(halves):
        mask = kept >> (32 * index) & 0xFFFFFFFF
        half.effective, half.permitted, half.inheritable = half.effective & mask, half.permitted & mask, 0
    checked(_libc.capset(ctypes.byref(header), halves), "capset")
