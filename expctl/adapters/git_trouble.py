"""What kept git from its work, by its exit status and its messages: the machine, somebody's KILL, another git."""

import errno
import os
import re

from expctl.domain.errors import MachineTrouble
from expctl.domain.machine_trouble import AGAIN, OF_ONE_FILE, WAYS_OUT

CHILD_DIED = re.compile(r"\bdied of signal (\d+)")
"""What git says of a git that it had started."""
OWN_WORDS = {"Out of diskspace": errno.ENOSPC}
"""Where git doesn't quote the system."""
FATAL = 128
"""The exit status of a git that could not go on; 1 is an answer, 129 a word that it doesn't know."""


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
    return MachineTrouble(what, expected=f"git {command} to end by itself", found=found, hint=f"{mend}, then {AGAIN}")


def gave_up(command: str, said: str, where: str) -> MachineTrouble:
    """Of a command that can't fail in a sound repository on a sound disk, and did: git's own words don't say which is not."""
    return MachineTrouble(
        "git could not do its work",
        expected=f"git {command} to end well",
        found=said.splitlines()[0] if said else "no message",
        where=where,
        hint=f"see `expctl doctor`, and `git fsck` if it finds nothing; then {AGAIN}",
    )
