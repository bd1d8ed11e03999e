"""What the kernel knows of a process that runs a build, and what no honest build does."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from kernel.harness.report import BuildFailed, Fault


@dataclass(frozen=True, slots=True)
class Scheduling:
    """What a process was given when it was forked: cores, priority (nice), scheduler."""

    cores: frozenset[int]
    priority: int
    scheduler: int

    @staticmethod
    def of(pid: int) -> Scheduling:
        """As it is now. Raises ProcessLookupError."""
        priority = os.getpriority(os.PRIO_PROCESS, pid)
        return Scheduling(frozenset(os.sched_getaffinity(pid)), priority, os.sched_getscheduler(pid))


def violation(pid: int, given: Scheduling) -> str:
    """What `pid` did, as the rest of a sentence about it; empty when all is well.

    Where somebody gives this very process other cores or another priority, it may have them too.
    """
    own = os.getpid()
    allowed = (given, Scheduling.of(own))
    for thread in (int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()):
        try:
            seen = Scheduling.of(thread)
        except ProcessLookupError:
            continue
        if seen not in allowed:
            return f"runs {_words(seen)}; it was given {_words(given)}"
    strays = [child for parent in (pid, own) for child in children(parent) if child != pid]
    return f"started a process: {_name(strays[0])}" if strays else ""


def death(status: int, do: str) -> BuildFailed | Fault:
    """The build's fault, but for SIGKILL: that comes from outside, where memory ran out or a person wants an end."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        how = f"died of {signal.Signals(number).name}"
        if number == signal.SIGKILL:
            return Fault(f"the process that runs the build {how} ({do})")
        if number == signal.SIGSYS:
            how += ": it tried to start or to look into a process"
    else:
        how = f"exited with status {os.WEXITSTATUS(status)}"
    return BuildFailed(f"the process that runs the build {how} ({do})")


def children(parent: int) -> list[int]:
    """Of all threads of `parent`; empty where the kernel lists none (CONFIG_PROC_CHILDREN)."""
    found = []
    for task in Path(f"/proc/{parent}/task").iterdir():
        with contextlib.suppress(OSError):
            found += [int(word) for word in (task / "children").read_text(encoding="ascii").split()]
    return found


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return str(pid)


def _words(given: Scheduling) -> str:
    cores = ",".join(map(str, sorted(given.cores)))
    return f"on cores {cores} at priority {given.priority}, scheduler {given.scheduler}"
