"""Find out from git's exit status and messages whether the machine, a signal or another git process made it fail."""

import errno
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from signal import SIGXFSZ

from expctl.domain.errors import MachineTrouble, Refused
from expctl.domain.machine.os_errors import AGAIN, OF_ONE_FILE, REMEDIES

CHILD_DIED = r"\bdied of signal (\d+)"
"""git's message about a git process that it had started."""
OWN_WORDS = {"Out of diskspace": errno.ENOSPC}
"""Messages of git that don't quote the system's error text -> errno."""
USAGE = 129
"""The exit status of git for an option or argument that it doesn't know."""
NO_FILE = "(?i)unable to (write|create)"
"""Messages of git without the system's error text, which nearly always mean a full disk."""
ROOM_MIN = 1 << 20


def git_trouble(command: str, status: int, stderr: str) -> MachineTrouble | None:
    """Return the error if `git command` was ended by the machine (e.g. a full disk), a signal or another git's lock. `stderr`
    is git's standard error, in English (LC_ALL=C). Returns None for any other end.
    """
    told = {os.strerror(each): each for each in REMEDIES if each not in OF_ONE_FILE} | OWN_WORDS
    number = next((each for words, each in told.items() if words in stderr), 0)
    is_locked = "Another git process seems to be running" in stderr
    died = re.search(CHILD_DIED, stderr)
    signal = int(died[1]) if died else max(0, -status)
    if not number and not signal and not is_locked:
        return None
    first = stderr.splitlines()[0] if stderr else ""
    if number:
        why, mend = REMEDIES[number]
        what, found = f"git {command} failed: {why}", first
    elif is_locked:
        what, found = f"git {command} failed: another git command holds a lock", first
        mend = "let the other git finish; if none runs, remove the lock file"
    else:
        what, found = f"git {command} was killed", f"signal {signal}"
        mend = "find out what killed it (`dmesg` says if the kernel did, for lack of memory)"
        if signal == SIGXFSZ:
            mend = REMEDIES[errno.EFBIG][1]
    return MachineTrouble(what, code="git-stopped", expected="git to finish", found=found, hint=f"{mend}, then {AGAIN}")


def gave_up(command: str, stderr: str, where: str, *, room_min: int = ROOM_MIN) -> MachineTrouble:
    """Return the error for an unexpected failure of `git command`, quoting the first line of `stderr`. It says that the disk
    may be full if the disk of the folder `where` has fewer than `room_min` free bytes.
    """
    is_full = re.search(NO_FILE, stderr) is not None or _room(where) < room_min
    return MachineTrouble(
        f"git {command} failed{': the disk may be full' if is_full else ''}",
        code="git-gave-up",
        expected="git to finish",
        found=stderr.splitlines()[0] if stderr else "no message",
        where=where,
        hint=f"{'if `df` shows a full disk, make room; else ' if is_full else ''}"
        f"run expctl doctor, and git fsck if that finds nothing; then {AGAIN}",
    )


def unfit_index(index: Path, where: Path, *, found: str = "no such file", first: str = "") -> Refused:
    """Return the error that the file `index` of the work tree `where` is missing or damaged; `found` says what was found. Its
    hint, a command to type, begins with `first`, e.g. `rm X && `.
    """
    aside = f"mv {index} {index}.damaged && " if index.exists() else ""
    return Refused(
        "the index of this work tree is missing or damaged",
        code="index-unfit",
        expected=f"{index}, git's list of the files here",
        found=found,
        where=str(where),
        hint=f"`{first}{aside}git read-tree HEAD`: it makes a new index and changes no file (stage again what was staged); "
        "then the same command again. Nothing measured is lost",
    )


def unreadable_part(start: Path, *, can: Callable[[str, int], bool] = os.access) -> Path | None:
    """Return the git folder around `start`, or a part of it, that this user may not look into; None if they may."""
    folders = (each / name for each in (start, *start.parents) for name in (".git", ".git/objects", ".git/refs"))
    return next((each for each in folders if os.path.isdir(each) and not can(str(each), os.R_OK | os.X_OK)), None)


def _room(folder: str) -> float:
    try:
        found = os.statvfs(folder)
    except OSError:
        return math.inf
    return found.f_bavail * found.f_frsize


def conflict_of(stderr: str, sentence: str) -> str:
    """Return `sentence` with {} replaced by the files that conflict, read from `stderr`; git's error if it names none."""
    lines = stderr.splitlines()
    files = [line.partition("Applied patch to '")[2].partition("'")[0] for line in lines if line.endswith("with conflicts.")]
    if files:
        return sentence.format(", ".join(files))
    return next((line.removeprefix("error: ") for line in lines if line.startswith("error: ")), "")
