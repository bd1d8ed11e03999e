"""What the kernel knows of a process that runs a build, and what no honest build does."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from kernel.harness.report import BuildFailed, Fault


def misconduct(pid: int, cores: set[int]) -> str:
    """What `pid` did, as the rest of a sentence about it; empty when all is well. `cores` are those that it was given."""
    own = os.getpid()
    for thread in (int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()):
        try:
            moved, eager = os.sched_getaffinity(thread), os.getpriority(os.PRIO_PROCESS, thread)
            scheduler = os.sched_getscheduler(thread)
        except ProcessLookupError:
            continue
        if moved != cores:
            return f"runs on cores {_list(moved)}, it was given {_list(cores)}"
        if eager != os.getpriority(os.PRIO_PROCESS, own) or scheduler != os.sched_getscheduler(own):
            return f"runs at priority {eager} (scheduler {scheduler}), it was given another"
    strays = [child for parent in (pid, own) for child in _children(parent) if child != pid]
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


def _children(parent: int) -> list[int]:
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


def _list(cores: set[int]) -> str:
    return ",".join(map(str, sorted(cores)))
