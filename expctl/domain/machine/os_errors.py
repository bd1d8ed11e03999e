"""Turns errors of the operating system that a user can correct (full disk, no descriptors, no memory) into refusals."""

import errno

from expctl.domain.errors import MachineTrouble

ASIDE = "move it aside"
OTHER_USER = "run it as a user who may write there"
REMEDIES = {
    errno.ENOSPC: ("the disk is full", "make room (`df` shows where it went)"),
    errno.EDQUOT: ("the disk quota is used up", "make room, or ask for a larger quota"),
    errno.EROFS: ("the disk can't be written", "mount it so that it can be written, or work in a clone elsewhere"),
    errno.EIO: ("the disk fails", "look at the kernel's log (`dmesg`)"),
    errno.EMFILE: ("too many files are open", "raise the limit of open files (`ulimit -n`)"),
    errno.ENFILE: ("too many files are open on this machine", "end programs that hold many files"),
    errno.ENOMEM: ("there is no memory left", "free memory"),
    errno.EAGAIN: ("no process can be started", "end programs, or raise the limit of processes (`ulimit -u`)"),
    errno.EACCES: ("permission is denied", OTHER_USER),
    errno.EPERM: ("permission is denied", OTHER_USER),
    errno.EISDIR: ("a folder is in the way of a file", ASIDE),
    errno.ENOTDIR: ("something else is in the way of a folder", ASIDE),
    errno.EEXIST: ("something else is in the way", ASIDE),
    errno.ELOOP: ("a link is in the way", ASIDE),
}
OF_ONE_FILE = {errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ELOOP}
AGAIN = "run the same command again: nothing measured is lost"


def is_trouble(error: OSError) -> bool:
    """Is the error about the machine as a whole, not about the permissions or kind of one file?"""
    return error.errno in REMEDIES and error.errno not in OF_ONE_FILE


def explained(error: OSError, what: str = "expctl can't go on", then: str = AGAIN) -> MachineTrouble | None:
    """Return a refusal with the cause and remedy of `error`; None for an error that no user can correct."""
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
