"""Processes as the kernel tells of them. One is known by pid, start time and boot: a pid alone is given out again."""

import contextlib
import functools
import os
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

POLL_S = 0.002


class Identity(Struct, frozen=True, kw_only=True):
    """`start_ticks` are clock ticks since boot."""

    pid: int
    start_ticks: int
    boot: str

    def is_alive(self) -> bool:
        """Does that very process still run? A zombie does not."""
        return identity_of(self.pid) == self

    def send(self, number: signal.Signals) -> None:
        """A signal to that very process; nothing when it is gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError), _opened(self.pid) as descriptor:
            if self.is_alive():
                signal.pidfd_send_signal(descriptor, number)


@functools.cache
def boot_id() -> str:
    """Another one after each start of the machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def identity_of(pid: int) -> Identity | None:
    """None when there is no such process, or only its exit status is left."""
    fields = stat_of(pid)
    if not fields or fields[0] in ("Z", "X"):
        return None
    return Identity(pid=pid, start_ticks=int(fields[19]), boot=boot_id())


def state_of(pid: int) -> str:
    """The letter of the kernel: R, S, D, T, Z; empty when there is no such process."""
    return next(iter(stat_of(pid)), "")


def stat_of(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may hold anything: state, parent, group, session, ..."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().decode(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def pids() -> list[int]:
    """All that there are."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children_of(pid: int) -> tuple[int, ...]:
    """Zombies too. Some kernels keep a list; elsewhere every process is asked for its parent."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        lists = [Path(f"/proc/{pid}/task/{task}/children").read_text() for task in tasks]
        return tuple(int(word) for text in lists for word in text.split())
    except FileNotFoundError:
        return tuple(each for each in pids() if stat_of(each)[1:2] == [str(pid)])


def family_of(pid: int) -> tuple[int, ...]:
    """A process and everything below it, children after their parents."""
    found, at = [pid], 0
    while at < len(found):
        found += [child for child in children_of(found[at]) if child not in found]
        at += 1
    return tuple(found)


def ancestors_of(pid: int) -> frozenset[int]:
    """A process and everything above it."""
    found = {pid}
    while (fields := stat_of(pid)) and (pid := int(fields[1])) > 0 and pid not in found:
        found.add(pid)
    return frozenset(found)


def name_of(pid: int) -> str:
    """What it calls itself, never its argv: tokens leak that way."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    return ""


def carries(pid: int, entry: bytes) -> bool:
    """Is `NAME=value` in the environment that it was started with?"""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return entry in file.read().split(b"\0")
    except OSError:
        return False


def await_end(processes: Iterable[Identity], wait_s: float) -> tuple[Identity, ...]:
    """Those that are still there after `wait_s`."""
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
