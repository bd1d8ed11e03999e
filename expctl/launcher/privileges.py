"""Drop Linux capabilities in a child process of root; other users have none. Numbers are those of linux/capability.h."""

import ctypes

from expctl.launcher.kernel import checked

VERSION_3 = 0x20080522
FILES = (0, 1, 3)
"""Capabilities over other users' files (DAC, owner), which a build may need; they don't lift the confinement of paths. That to
open files by their handles (2) does: such a file comes through any mount that is writable, and no path leads to it.
"""
LOCK_MEMORY, NICE = 14, 23
TRACE, ADMINISTER, PERFORMANCE = 19, 21, 38
"""Capabilities that reading a GPU's counters needs."""

_libc = ctypes.CDLL(None, use_errno=True)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Half(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def keep_few(*, counters: bool) -> None:
    """Drop all Linux capabilities of the calling process but those that the harness needs. Raises OSError. With `counters`,
    those that profilers need to read a GPU's counters are kept too.
    """
    kept = sum(1 << number for number in (*FILES, LOCK_MEMORY, NICE, *((TRACE, ADMINISTER, PERFORMANCE) if counters else ())))
    header, halves = _Header(version=VERSION_3), (_Half * 2)()
    checked(_libc.capget(ctypes.byref(header), halves), "capget")
    for index, half in enumerate(halves):
        mask = kept >> (32 * index) & 0xFFFFFFFF
        half.effective, half.permitted, half.inheritable = half.effective & mask, half.permitted & mask, 0
    checked(_libc.capset(ctypes.byref(header), halves), "capset")
