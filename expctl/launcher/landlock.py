"""Landlock (a Linux security feature): let a process and its descendants write only below given paths.

Numbers are those of linux/landlock.h. Reading is never restricted. Landlock doesn't stop chmod, chown, utime and extended
attributes; read-only mounts (namespaces.py) do where the kernel permits them.
"""

import ctypes
import functools
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from expctl.launcher.kernel import prctl, system_call

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION = 1
PATH_BENEATH = 1
PR_SET_NO_NEW_PRIVS = 38

WRITE_FILE, REMOVE_DIR, REMOVE_FILE = 1 << 1, 1 << 4, 1 << 5
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_SYM = 1 << 7, 1 << 8, 1 << 9, 1 << 10, 1 << 12
REFER, TRUNCATE = 1 << 13, 1 << 14  # since version 2, since version 3
BIND_TCP, CONNECT_TCP = 1 << 0, 1 << 1  # since version 4
SCOPE_ABSTRACT_SOCKET, SCOPE_SIGNAL = 1 << 0, 1 << 1  # since version 6

CHANGES = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM


class _Attributes(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Rule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


@functools.cache
def version() -> int:
    """Return the version of the kernel's Landlock interface; 0 if it has none or it is switched off. The result is cached."""
    try:
        return system_call(CREATE_RULESET, "landlock", None, 0, ASK_VERSION)
    except OSError:
        return 0


class Ruleset:
    """A set of Landlock rules: after a process calls `enter`, it can only change files below the paths `writable`.

    The parent process makes it, the child enters it, and the parent closes it after the child has started. Unless `tcp` is
    true, TCP connections are forbidden too (from Landlock 4 on). Raises OSError.
    """

    def __init__(self, *, writable: Iterable[Path], tcp: bool) -> None:
        here = version()
        self._allowed = CHANGES | (REFER if here >= 2 else 0) | (TRUNCATE if here >= 3 else 0)
        attributes = _Attributes(
            files=self._allowed | MAKE_CHAR | MAKE_BLOCK,
            network=BIND_TCP | CONNECT_TCP if here >= 4 and not tcp else 0,
            scoped=SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL if here >= 6 else 0,
        )
        size = 24 if here >= 6 else 16 if here >= 4 else 8
        self.descriptor = system_call(CREATE_RULESET, "landlock", ctypes.byref(attributes), size, 0)
        try:
            for path in writable:
                self.allow(path)
        except BaseException:
            self.close()
            raise

    def allow(self, path: Path, *, contents: bool = False) -> None:
        """Permit changes to the file `path`, or to the folder `path` and all below it. With `contents` only the contents of
        existing files may change. Raises OSError, e.g. if `path` doesn't exist.
        """
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            everything = stat.S_ISDIR(os.fstat(parent).st_mode) and not contents
            rule = _Rule(allowed=self._allowed if everything else self._allowed & (WRITE_FILE | TRUNCATE), parent=parent)
            system_call(ADD_RULE, f"landlock {path}", self.descriptor, PATH_BENEATH, ctypes.byref(rule), 0)
        finally:
            os.close(parent)

    def enter(self) -> None:
        """Apply the rules to the calling process, irrevocably; it also loses the ability to gain privileges by exec."""
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        system_call(RESTRICT_SELF, "landlock", self.descriptor, 0)

    def close(self) -> None:
        """Close the ruleset's file descriptor."""
        os.close(self.descriptor)
