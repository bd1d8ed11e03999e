"""Who holds a lock: written into the lock file by the holder, read by everybody else without locking.

A process is identified by pid and start time, never by pid alone; argv is never shown, because tokens leak that way.
"""

import json
import os
import sys
from pathlib import Path

from expctl.domain.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HolderFacts:
    """The process that holds a lock, and what it was last doing."""

    pid: int
    start_ticks: int
    executable: str
    experiment: str
    step: str

    def alive(self) -> bool:
        """Does that very process still run?"""
        return start_ticks(self.pid) == self.start_ticks


def start_ticks(pid: int) -> int:
    """Start time of a process in clock ticks since boot; -1 when there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return -1
    fields = text.rpartition(")")[2].split()
    return -1 if fields[0] in ("Z", "X") else int(fields[19])


def mark_holder(descriptor: int, *, experiment: str, step: str) -> None:
    """Write who we are into the open lock file."""
    facts = {
        "pid": os.getpid(),
        "start_ticks": start_ticks(os.getpid()),
        "executable": Path(sys.argv[0]).name or "python",
        "experiment": experiment,
        "step": step,
    }
    text = json.dumps(facts).encode()
    os.pwrite(descriptor, text, 0)
    os.ftruncate(descriptor, len(text))


def read_holder(lock: Path) -> HolderFacts | None:
    """The last holder, alive or not; None when nobody ever wrote."""
    try:
        facts = json.loads(lock.read_bytes())
        return HolderFacts(
            pid=int(facts["pid"]),
            start_ticks=int(facts["start_ticks"]),
            executable=str(facts["executable"]),
            experiment=str(facts["experiment"]),
            step=str(facts["step"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def describe_holder(lock: Path) -> str:
    """One line for an error."""
    holder = read_holder(lock)
    if holder is None:
        return "a process that has not said who it is yet"
    doing = f", running {holder.experiment}" if holder.experiment else ""
    return f"{holder.executable} (pid {holder.pid}{doing}{f', step {holder.step}' if holder.step else ''})"
