"""What kept git from its work, by its exit status and its messages: the machine, somebody's KILL, another git."""

import os
import re

from expctl.domain.errors import MachineTrouble
from expctl.domain.machine_trouble import AGAIN, OF_ONE_FILE, WAYS_OUT

CHILD_DIED = re.compile(r"\bdied of signal (\d+)")
"""What git says of a git that it had started."""


def git_trouble(command: str, status: int, said: str) -> MachineTrouble | None:
    """None when git has answered. Its messages are in English."""
    number = next((each for each in WAYS_OUT if each not in OF_ONE_FILE and os.strerror(each) in said), 0)
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
