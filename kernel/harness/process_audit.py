"""Looks in /proc for what no honest build does: taking other cores or priorities, starting processes, dying."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from expctl.harness.report import BuildFailed, Fault


@dataclass(frozen=True, slots=True)
class Scheduling:
    """Cores, priority (nice value) and scheduler (SCHED_* number) of one thread or process."""

    cores: frozenset[int]
    priority: int
    scheduler: int

    @staticmethod
    def of(pid: int) -> Scheduling:
        """Return the scheduling of `pid`. Raises ProcessLookupError."""
        priority = os.getpriority(os.PRIO_PROCESS, pid)
        return Scheduling(frozenset(os.sched_getaffinity(pid)), priority, os.sched_getscheduler(pid))


def violation(pid: int, given: Scheduling) -> str:
    """Return what process `pid` did wrong as the predicate of a sentence, or "" when nothing.

    It may have the scheduling that it was given, or what this process has now: somebody may have changed both.
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
    """Explain a wait status: Fault for SIGKILL, which comes from outside, else BuildFailed."""
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
    """Return the children of all threads of `parent`; empty where Linux lists none (CONFIG_PROC_CHILDREN)."""
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
