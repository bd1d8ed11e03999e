"""Takes from this process, before it loads a build, the rights to change files, start programs and reach other processes.

Linux only, without any package: capabilities by capset(2), the rest by Landlock (kernel 5.13; signals and sockets 6.12).
Structures and numbers are those of the kernel's linux/capability.h and linux/landlock.h.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence

OWN_PROCESS = "/proc/self"

_libc = ctypes.CDLL(None, use_errno=True)

_PR_SET_NO_NEW_PRIVS, _PR_SET_DUMPABLE = 38, 4
_CAPABILITY_VERSION_3 = 0x20080522
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same number on every architecture
_VERSION_FLAG, _PATH_BENEATH = 1, 1

_EXECUTE, _WRITE_FILE = 1 << 0, 1 << 1
_REMOVE_OR_MAKE = 0x1FF << 4  # remove folder and file, make device, folder, file, socket, pipe, block device, link
_REFER, _TRUNCATE = 1 << 13, 1 << 14  # Landlock 2 and 3
_TCP = 0b11  # bind and connect: Landlock 4
_SCOPES = 0b11  # abstract sockets and signals to processes outside: Landlock 6


def landlock_version() -> int:
    """Return the version of Landlock in this Linux kernel, 0 where it has none."""
    version: int = _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)
    return max(0, version)


def hide() -> None:
    """Keep other processes of this user from reading this one's memory and descriptors."""
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def confine(writable: Sequence[str] = (), *, names_threads: bool = False) -> str:
    """Confine this process for good; return in words what holds. Files are written below `writable` alone, and with
    `names_threads` what /proc has of this process: CUDA names its threads there and doesn't start where it can't.

    A process that is confined can't trace, signal or read the memory of one that isn't, whoever its user is.
    """
    held = []
    if _drop_capabilities():
        held.append("no capabilities")
    version = landlock_version()
    if version and _landlock(version, writable, names_threads=names_threads):
        held.append(f"landlock {version}: writes {', '.join(writable) or 'nothing'}, starts nothing")
    return "; ".join(held) or "not confined: this kernel has no Landlock"


def _drop_capabilities() -> bool:
    number = _CAPSET.get(os.uname().machine)
    if number is None:
        return False
    header, nothing = struct.pack("Ii", _CAPABILITY_VERSION_3, 0), bytes(24)
    return bool(_libc.syscall(number, header, nothing) == 0)


def _landlock(version: int, writable: Sequence[str], *, names_threads: bool) -> bool:
    files = _EXECUTE | _WRITE_FILE | _REMOVE_OR_MAKE | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    attributes = struct.pack("QQQ", files, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    try:
        rights = [(folder, files & ~_EXECUTE) for folder in writable]
        if names_threads:
            rights.append((OWN_PROCESS, files & (_WRITE_FILE | _TRUNCATE)))
        for folder, allowed in rights:
            descriptor = os.open(folder, os.O_PATH | os.O_CLOEXEC)
            rule = struct.pack("=Qi", allowed, descriptor)
            added = _libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
            os.close(descriptor)
            if added:
                return False
        _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return bool(_libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)
