"""Record which process holds a lock: it writes that into the lock file, and others read it without locking.

A process is identified by pid, start time and boot, never by pid alone; its arguments are never shown, as they may hold
secrets.
"""

import json
import os
import sys
import time
from pathlib import Path

from msgspec import Struct

from expctl.domain.text import one_line
from expctl.launcher.process import has_ended

BYTES_MOST = 4096
WORD_MOST = 100
PID_MOST = 1 << 22  # the kernel's PID_MAX_LIMIT
TICKS_MOST = 1 << 63


class HolderFacts(Struct, frozen=True, kw_only=True):
    """The process that holds a lock: which experiment and step it runs, and since when (UTC)."""

    pid: int
    start_ticks: int
    executable: str
    experiment: str
    step: str
    boot_id: str = ""
    since: str = ""

    def alive(self) -> bool:
        """Return whether the process with this pid, start time and boot still runs (not another that has got its pid since)."""
        return self.boot_id in ("", boot_id()) and start_ticks(self.pid) == self.start_ticks


def boot_id() -> str:
    """Return the kernel's id of this boot; empty if it can't be read."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def start_ticks(pid: int) -> int:
    """Return when process `pid` started, in clock ticks since boot; -1 if there is no such process or it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return -1
    fields = text.rpartition(")")[2].split()
    return -1 if has_ended(fields) else int(fields[19])


def mark_holder(descriptor: int, *, experiment: str, step: str) -> None:
    """Write this process's HolderFacts as JSON into an open lock file, in one write, so that no reader sees a mixture."""
    facts = {
        "pid": os.getpid(),
        "start_ticks": start_ticks(os.getpid()),
        "boot_id": boot_id(),
        "executable": one_line(Path(sys.argv[0]).name, WORD_MOST) or "python",
        "experiment": one_line(experiment, WORD_MOST),
        "step": step,
        "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    text = json.dumps(facts).encode()
    os.pwrite(descriptor, text.ljust(min(os.fstat(descriptor).st_size, BYTES_MOST)), 0)
    os.ftruncate(descriptor, len(text))


def read_holder(lock: Path) -> HolderFacts | None:
    """Return the process that last wrote into the lock file `lock`, whether it still runs or not. None if the file is absent or
    empty or has other contents.
    """
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


def is_lock_file(descriptor: int) -> bool:
    """Return whether the open file is empty or was written by `mark_holder`; any other file is a user's and not overwritten."""
    text = os.pread(descriptor, BYTES_MOST + 1, 0)
    return not text or (len(text) <= BYTES_MOST and parse_holder(text) is not None)


def parse_holder(text: bytes) -> HolderFacts | None:
    """Parse the contents of a lock file; None if `mark_holder` can't have written them (any user may write to the file)."""
    try:
        facts = json.loads(text)
        return HolderFacts(
            pid=_number(facts["pid"], 1, PID_MOST),
            start_ticks=_number(facts["start_ticks"], -1, TICKS_MOST),
            executable=_word(facts["executable"]),
            experiment=_word(facts["experiment"]),
            step=_word(facts["step"]),
            boot_id=_word(facts.get("boot_id", "")),
            since=_word(facts.get("since", "")),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _number(found: object, least: int, most: int) -> int:
    if type(found) is not int or not least <= found <= most:
        raise ValueError
    return found


def _word(found: object) -> str:
    if type(found) is not str:
        raise ValueError
    return one_line(found, WORD_MOST)


def describe_holder(lock: Path | HolderFacts) -> str:
    """Return in one line, for an error message, which process holds `lock`, e.g. `expctl (pid 12, running P15, step test)`."""
    holder = read_holder(lock) if isinstance(lock, Path) else lock
    if holder is None:
        return "a process that has not written its name into the lock file yet"
    doing = f", running {holder.experiment}" if holder.experiment else ""
    return f"{holder.executable} (pid {holder.pid}{doing}{f', step {holder.step}' if holder.step else ''})"
