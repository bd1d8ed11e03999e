"""Calls of the Linux kernel that Python has no name for. Each raises OSError with the kernel's own reason."""

import ctypes
import errno
import os

AT_FDCWD = -100
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2  # linux/fs.h

_libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """`result`, unless it says that `what` failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, argument: int = 0) -> int:
    """See prctl(2)."""
    return checked(_libc.prctl(option, ctypes.c_ulong(argument), 0, 0, 0), f"prctl {option}")


def system_call(number: int, what: str, *arguments: object) -> int:
    """By number, for what the C library doesn't wrap. Integers are passed as longs, the rest as ctypes has it."""
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return checked(_libc.syscall(ctypes.c_long(number), *words), what)


def unshare(flags: int) -> None:
    """See unshare(2)."""
    checked(_libc.unshare(flags), "unshare")


def setns(descriptor: int) -> None:
    """Enter the namespace that is open there, see setns(2)."""
    checked(_libc.setns(descriptor, 0), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """See mount(2)."""
    words = [os.fsencode(each) if each else None for each in (source, target, kind)]
    checked(_libc.mount(*words, ctypes.c_ulong(flags), data.encode() if data else None), f"mount {target}")


def renameat2(one: tuple[int, str], two: tuple[int, str], flags: int) -> None:
    """See renameat2(2); both are a descriptor of a folder and a name in it. ENOSYS where the C library has no such call; not
    every file system knows every flag (EINVAL).
    """
    call = getattr(_libc, "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, "renameat2: not in this C library")
    status = call(one[0], os.fsencode(one[1]), two[0], os.fsencode(two[1]), ctypes.c_uint(flags))
    if status < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), one[1], None, two[1])
