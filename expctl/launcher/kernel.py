"""System calls of Linux that Python's standard library lacks. Each raises OSError with the kernel's error number."""

import ctypes
import errno
import os

AT_FDCWD = -100
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2  # linux/fs.h
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 1 << 12, 1 << 14, 1 << 18  # linux/mount.h

_libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """Return `result`, that of a system call. Raises OSError with the C library's errno if it is negative. `what` names the
    call in the error.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, argument: int = 0) -> int:
    """Call prctl(2) with one argument; return its result. Raises OSError."""
    return checked(_libc.prctl(option, ctypes.c_ulong(argument), 0, 0, 0), f"prctl {option}")


def system_call(number: int, what: str, *arguments: object) -> int:
    """Make the Linux system call `number`, for calls that the C library doesn't wrap, and return its result. Integer
    `arguments` are passed as C longs; `what` names the call in errors. Raises OSError.
    """
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return checked(_libc.syscall(ctypes.c_long(number), *words), what)


def unshare(flags: int) -> None:
    """Move the calling process to new namespaces; see unshare(2) for `flags`. Raises OSError."""
    checked(_libc.unshare(flags), "unshare")


def setns(descriptor: int) -> None:
    """Move the calling process to the namespace that is open as file `descriptor`; see setns(2). Raises OSError."""
    checked(_libc.setns(descriptor, 0), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Mount `source` at `target`; see mount(2) for `kind`, `flags` and `data`. Raises OSError."""
    words = [os.fsencode(each) if each else None for each in (source, target, kind)]
    checked(_libc.mount(*words, ctypes.c_ulong(flags), data.encode() if data else None), f"mount {target}")


def renameat2(one: tuple[int, str], two: tuple[int, str], flags: int) -> None:
    """Rename the file `one` to `two`, each given as (descriptor of its folder, its name); see renameat2(2) for `flags`. Raises
    OSError: ENOSYS if the C library lacks the call, EINVAL if the file system doesn't support a flag.
    """
    call = getattr(_libc, "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, "renameat2: not in this C library")
    status = call(one[0], os.fsencode(one[1]), two[0], os.fsencode(two[1]), ctypes.c_uint(flags))
    if status < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), one[1], None, two[1])
