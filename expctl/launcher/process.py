"""Read processes from /proc. A process is identified by pid, start time and boot, because pids are reused."""

import contextlib
import functools
import os
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from expctl.launcher.own_processes import children_of_task

POLL_S = 0.002
CPUCLOCK_SCHED = 2  # of linux/posix-timers.h: the clock of a process by its pid


class Identity(Struct, frozen=True, kw_only=True):
    """Identity of a process, valid even if its pid is reused. `boot` is the kernel's id of the boot. `start_ticks` is the
    process's start in clock ticks since boot.
    """

    pid: int
    start_ticks: int
    boot: str

    def is_alive(self) -> bool:
        """Return whether this very process still runs, and not another with its pid; False once it has ended."""
        return identity_of(self.pid) == self

    def processor_ns(self) -> int | None:
        """Return the processor time (ns) that all threads of this very process have taken; None if it is gone."""
        try:
            taken = time.clock_gettime_ns(~self.pid << 3 | CPUCLOCK_SCHED)
        except OSError:
            return None
        return taken if self.is_alive() else None

    def send(self, number: signal.Signals) -> None:
        """Send the signal `number` to this very process; do nothing if it is gone or belongs to another user."""
        with contextlib.suppress(ProcessLookupError, PermissionError), _opened(self.pid) as descriptor:
            if self.is_alive():
                signal.pidfd_send_signal(descriptor, number)


@functools.cache
def boot_id() -> str:
    """Return the kernel's id of this boot, which changes with each start of the machine. The result is cached."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def identity_of(pid: int) -> Identity | None:
    """Return the identity of the process `pid`; None if there is no such process, or it has ended."""
    fields = stat_of(pid)
    return None if has_ended(fields) else Identity(pid=pid, start_ticks=int(fields[19]), boot=boot_id())


def has_ended(fields: Sequence[str]) -> bool:
    """Return whether a process has ended, by what `stat_of` returned. The kernel shows one whose first thread alone has ended
    as a zombie, too, but counts the threads that run on.
    """
    return not fields or (fields[0] in ("Z", "X") and int(fields[17]) < 2)


def state_of(pid: int) -> str:
    """Return the kernel's letter for a process's state (R, S, D, T, Z, ...); empty if there is no such process."""
    return next(iter(stat_of(pid)), "")


def is_stopped(pid: int) -> bool:
    """Return whether every thread of the process `pid` is stopped or gone."""
    try:
        return all((stat_of(f"{pid}/task/{task}") or "X")[0] in "TtZX" for task in os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return True


def stat_of(pid: int | str, root: str = "/proc") -> list[str]:
    """Return the fields of /proc/PID/stat after the name: state, parent, group, session, ...; [] without such a process."""
    try:
        with open(f"{root}/{pid}/stat", "rb") as file:
            return file.read().decode(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def folder_of(pid: int, root: str = "/proc") -> str:
    """Return the folder in /proc that shows memory and open files of a process: its own, or, if its first thread has ended,
    that of one that runs on.
    """
    own = f"{root}/{pid}"
    with contextlib.suppress(OSError):
        if os.stat(f"{own}/task").st_nlink > 3 and stat_of(pid, root)[:1] == ["Z"]:  # 2, and one for each thread
            tasks = [f"{pid}/task/{task}" for task in os.listdir(f"{own}/task")]
            return next((f"{root}/{each}" for each in tasks if (stat_of(each, root) or "X")[0] not in "ZX"), own)
    return own


def pids() -> list[int]:
    """Return the pids of all processes."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children_of(pid: int) -> tuple[int, ...]:
    """Return the pids of a process's children, including zombies."""
    try:
        return tuple(child for task in os.listdir(f"/proc/{pid}/task") for child in children_of_task(pid, task))
    except FileNotFoundError:
        return tuple(each for each in pids() if stat_of(each)[1:2] == [str(pid)])


def family_of(pid: int) -> tuple[int, ...]:
    """Return the pids of a process and of all its descendants, a parent before its children."""
    found, at = [pid], 0
    while at < len(found):
        found += [child for child in children_of(found[at]) if child not in found]
        at += 1
    return tuple(found)


def ancestors_of(pid: int) -> frozenset[int]:
    """Return the pids of a process and of all its ancestors."""
    found = {pid}
    while (fields := stat_of(pid)) and (pid := int(fields[1])) > 0 and pid not in found:
        found.add(pid)
    return frozenset(found)


def name_of(pid: int) -> str:
    """Return a process's name from /proc/PID/comm, "" if it is gone. The command line isn't used, because it may contain
    secrets.
    """
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    return ""


def carries(pid: int, entry: bytes) -> bool:
    """Return whether the environment with which a process was started contains `entry`, e.g. b"NAME=value"."""
    return entry in (_environ(f"/proc/{pid}") or _environ(folder_of(pid))).split(b"\0")


def _environ(folder: str) -> bytes:
    try:
        with open(f"{folder}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""


def await_end(processes: Iterable[Identity], wait_s: float) -> tuple[Identity, ...]:
    """Wait at most `wait_s` seconds for `processes` to end; return those that still run."""
    left = tuple(processes)
    deadline = time.monotonic() + wait_s
    while (left := tuple(each for each in left if each.is_alive())) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return left


@contextlib.contextmanager
def _opened(pid: int) -> Iterator[int]:
    descriptor = os.pidfd_open(pid)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
