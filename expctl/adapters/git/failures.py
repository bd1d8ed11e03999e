"""What kept git from its work, by its exit status and its messages: the machine, somebody's KILL, another git."""

import errno
import math
import os
import re

from expctl.domain.errors import MachineTrouble
from expctl.domain.machine.os_errors import AGAIN, OF_ONE_FILE, WAYS_OUT

CHILD_DIED = re.compile(r"\bdied of signal (\d+)")
"""What git says of a git that it had started."""
OWN_WORDS = {"Out of diskspace": errno.ENOSPC}
"""Where git doesn't quote the system."""
USAGE = 129
"""The exit status of a git that was given a word which it doesn't know."""
NO_FILE = re.compile("unable to (write|create)", re.IGNORECASE)
"""What git says where it doesn't quote the system: nearly always a full disk."""
ROOM_MIN = 1 << 20


def git_trouble(command: str, status: int, said: str) -> MachineTrouble | None:
    """None when git has answered. Its messages are in English."""
    told = {os.strerror(each): each for each in WAYS_OUT if each not in OF_ONE_FILE} | OWN_WORDS
    number = next((each for words, each in told.items() if words in said), 0)
    is_locked = "Another git process seems to be running" in said
    died = CHILD_DIED.search(said)
    signal = int(died[1]) if died else max(0, -status)
    if not number and not signal and not is_locked:
        return None
    first = said.splitlines()[0] if said else ""
    if number:
        why, mend = WAYS_OUT[number]
        what, found = f"git could not do its work: {why}", first
    elif is_locked:
        what, found, mend = "git could not do its work", first, "let the other git finish; if none runs, remove that file"
    else:
        what, found = "git could not do its work", f"it was killed by signal {signal}"
        mend = "see what ended it (`dmesg` names the kernel's killer)"
    return MachineTrouble(
        what, code="git-stopped", expected=f"git {command} to end by itself", found=found, hint=f"{mend}, then {AGAIN}"
    )


def gave_up(command: str, said: str, where: str, *, room_min: int = ROOM_MIN) -> MachineTrouble:
    """Of a command that can't fail in a sound repository on a sound disk, and did: git's own words don't say which is not."""
    is_full = NO_FILE.search(said) is not None or _room(where) < room_min
    return MachineTrouble(
        f"git could not do its work{': the disk may be full' if is_full else ''}",
        code="git-gave-up",
        expected=f"git {command} to end well",
        found=said.splitlines()[0] if said else "no message",
        where=where,
        hint=f"{'make room where `df` shows none; else ' if is_full else ''}"
        f"see `expctl doctor`, and `git fsck` if it finds nothing; then {AGAIN}",
    )


def _room(folder: str) -> float:
    """The bytes that are free there for everybody."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return math.inf
    return found.f_bavail * found.f_frsize
