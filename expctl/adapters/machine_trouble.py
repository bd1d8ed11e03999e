"""What the machine refuses, as opposed to what expctl gets wrong: a full disk, a broken one, no descriptors, no memory."""

import errno
import os

from expctl.domain.errors import MachineTrouble

MENDS = {
    errno.ENOSPC: "free space (`df` shows where it went)",
    errno.EDQUOT: "free space or ask for a larger quota",
    errno.EROFS: "mount the file system writable",
    errno.EIO: "look at the kernel's log (`dmesg`): the disk may be failing",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`)",
    errno.ENFILE: "end programs that hold many files",
    errno.ENOMEM: "free memory",
    errno.EAGAIN: "end programs, or raise the limit of processes (`ulimit -u`)",
}
AGAIN = "then run the same command again: nothing measured is lost"


def is_trouble(error: OSError) -> bool:
    """Is this about the machine?"""
    return error.errno in MENDS


def explained(error: OSError) -> MachineTrouble:
    """What to tell the user of an error for which `is_trouble` holds."""
    number = error.errno or 0
    return MachineTrouble(
        "the machine does not let expctl go on",
        expected="files that can be written and read, and processes that can be started",
        found=os.strerror(number),
        where=str(error.filename or ""),
        hint=f"{MENDS[number]}, {AGAIN}",
    )


def git_trouble(arguments: object, status: int, said: str) -> MachineTrouble | None:
    """The same for a git command, by its exit status and its messages (in English); None when it has answered."""
    number = next((each for each in MENDS if os.strerror(each) in said), 0)
    if not number and status >= 0 and "Another git process seems to be running" not in said:
        return None
    if number:
        found, mend = said.splitlines()[0] if said else os.strerror(number), MENDS[number]
    elif status < 0:
        found, mend = f"it was killed by signal {-status}", "see what ended it (`dmesg` names the kernel's killer)"
    else:
        found, mend = said.splitlines()[0], "let the other git finish; if none runs, remove that file"
    return MachineTrouble(
        "git could not do its work",
        expected=f"git {arguments} to end by itself",
        found=found,
        hint=f"{mend}, {AGAIN}",
    )
