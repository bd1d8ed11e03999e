"""Turns operating-system errors that a user can correct (full disk, too many files, no memory) into errors with advice."""

import errno

from expctl.domain.errors import MachineTrouble

ASIDE = "move it aside"
OTHER_USER = "run it as a user who may write there"
REMEDIES = {
    errno.ENOSPC: ("the disk is full", "free disk space (`df -h` shows how full each disk is)"),
    errno.EDQUOT: ("the disk quota is used up", "delete files of yours, or ask for a larger quota"),
    errno.EFBIG: ("a file may not grow any more", "raise the limit of file size (`ulimit -f`)"),
    errno.EROFS: ("the disk can't be written", "mount it writable, or work in a clone on another disk"),
    errno.EIO: ("the disk reports an error", "look for its errors in the kernel's log (`dmesg`)"),
    errno.EMFILE: ("too many files are open", "raise the limit of open files (`ulimit -n`)"),
    errno.ENFILE: ("too many files are open on this machine", "end programs that hold many files open"),
    errno.ENOMEM: ("there is no memory left", "end programs that use much memory"),
    errno.EAGAIN: ("no process can be started", "end some programs, or raise the limit of processes (`ulimit -u`)"),
    errno.EACCES: ("permission is denied", OTHER_USER),
    errno.EPERM: ("permission is denied", OTHER_USER),
    errno.EISDIR: ("a folder is in the way, where a file should be", ASIDE),
    errno.ENOTDIR: ("a file is in the way, where a folder should be", ASIDE),
    errno.EEXIST: ("a file or folder with this name is there already", ASIDE),
    errno.ELOOP: ("a symbolic link is in the way", ASIDE),
}
OF_ONE_FILE = {errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ELOOP}
AGAIN = "run the same command again: nothing measured is lost"


def is_trouble(error: OSError) -> bool:
    """Return whether the error concerns the whole machine (disk, memory, limits), not the permissions or kind of one file."""
    return error.errno in REMEDIES and error.errno not in OF_ONE_FILE


def explained(error: OSError, what: str = "expctl can't go on", then: str = AGAIN) -> MachineTrouble | None:
    """Return an error that says `what` failed, why, the remedy, and what to do `then`; None if a user can't correct it."""
    if error.errno not in REMEDIES:
        return None
    why, remedy = REMEDIES[error.errno]
    return MachineTrouble(
        f"{what}: {why}",
        code="machine-trouble",
        expected="a machine on which builds, journals and records can be read and written",
        found=error.strerror or "",
        where=str(error.filename or ""),
        hint=f"{remedy}, then {then}",
    )
