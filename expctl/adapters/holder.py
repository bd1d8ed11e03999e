"""Who holds a lock: written into the lock file by the holder, read by everybody else without locking.

A process is identified by pid, start time and boot, never by pid alone; argv is never shown, because tokens leak that way.
"""

import json
import os
import sys
import time
from pathlib import Path

from expctl.domain.values import dataclass

BYTES_MOST = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class HolderFacts:
    """The process that holds a lock, and what it has been doing since when (UTC)."""

    pid: int
    start_ticks: int
    executable: str
    experiment: str
    step: str
    boot_id: str = ""
    since: str = ""

    def alive(self) -> bool:
        """Does that very process still run?"""
        return self.boot_id in ("", boot_id()) and start_ticks(self.pid) == self.start_ticks


def boot_id() -> str:
    """What tells one boot of this machine from the next."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def start_ticks(pid: int) -> int:
    """Start time of a process in clock ticks since boot; -1 when there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return -1
    fields = text.rpartition(")")[2].split()
    return -1 if fields[0] in ("Z", "X") else int(fields[19])


def mark_holder(descriptor: int, *, experiment: str, step: str) -> None:
    """Write who we are into the open lock file."""
    facts = {
        "pid": os.getpid(),
        "start_ticks": start_ticks(os.getpid()),
        "boot_id": boot_id(),
        "executable": Path(sys.argv[0]).name or "python",
        "experiment": experiment,
        "step": step,
        "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    text = json.dumps(facts).encode()
    os.pwrite(descriptor, text, 0)
    os.ftruncate(descriptor, len(text))


def read_holder(lock: Path) -> HolderFacts | None:
    """The last holder, alive or not; None when nobody ever wrote."""
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return parse_holder(os.read(descriptor, BYTES_MOST))
    except OSError:
        return None
    finally:
        os.close(descriptor)


def parse_holder(text: bytes) -> HolderFacts | None:
    """What a lock file says; None when it says nothing."""
    try:
        facts = json.loads(text)
        return HolderFacts(
            pid=int(facts["pid"]),
            start_ticks=int(facts["start_ticks"]),
            executable=str(facts["executable"]),
            experiment=str(facts["experiment"]),
            step=str(facts["step"]),
            boot_id=str(facts.get("boot_id", "")),
            since=str(facts.get("since", "")),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def describe_holder(lock: Path | HolderFacts) -> str:
    """One line for an error."""
    holder = read_holder(lock) if isinstance(lock, Path) else lock
    if holder is None:
        return "a process that has not said who it is yet"
    doing = f", running {holder.experiment}" if holder.experiment else ""
    return f"{holder.executable} (pid {holder.pid}{doing}{f', step {holder.step}' if holder.step else ''})"
