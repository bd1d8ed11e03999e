"""Read the processes of this machine from /proc, and tell which of them are ours.

A process is ours if it has our mark in its environment, descends from this process, or is its ancestor (the script that called
expctl may well be named benchmark_all.sh).
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from expctl.adapters.child.contained_process import MARK
from expctl.domain.text import one_line
from expctl.launcher.process import folder_of, has_ended

PROC = Path("/proc")
GENERATIONS_MOST = 64
BYTES_MOST = 4096  # read of a command line: name and script are at its beginning
KTHREADD = 2
OF_MEMORY = ("cmdline", "environ")  # files that are empty once the first thread has ended


class Process(Struct, frozen=True, kw_only=True):
    """A process as /proc/PID/stat shows it. `name` has at most 15 characters; it started `start_ticks` ticks after boot and has
    taken `cpu_ticks` of CPU time.
    """

    name: str
    state: str
    parent: int
    start_ticks: int
    cpu_ticks: int = 0


class ProcessTable:
    """Reads the processes in `root` (/proc). `me` is our pid, `mark` the value of EXPCTL_RUN in our children's environment."""

    def __init__(self, *, mark: str, root: Path = PROC, me: int | None = None) -> None:
        self._root, self._me = str(root), os.getpid() if me is None else me
        self._needle = f"{MARK}={mark}".encode()

    def pids(self) -> list[int]:
        """Return the pids of all processes, in no order."""
        return [int(name) for name in os.listdir(self._root) if name.isdigit()]

    def hides_others(self) -> bool:
        """Return whether /proc is mounted so that processes of other users can't be seen (hidepid)."""
        return not os.path.exists(f"{self._root}/1")

    def words(self, pid: int) -> list[str]:
        """Return the words of a process' command line, from its first 4096 bytes; empty if it is gone or a kernel thread."""
        text = self.read(pid, "cmdline")
        return [word.decode(errors="replace") for word in text.rstrip(b"\0").split(b"\0")] if text else []

    def process(self, pid: int) -> Process | None:
        """Return the process `pid`; None if it is gone or has ended."""
        head, found, rest = self.read(pid, "stat").rpartition(b")")
        fields = rest.decode(errors="replace").split()
        if not found or len(fields) < 20 or has_ended(fields):
            return None
        name = head.partition(b"(")[2].decode(errors="replace")
        return Process(
            name=name,
            state=fields[0],
            parent=int(fields[1]),
            start_ticks=int(fields[19]),
            cpu_ticks=int(fields[11]) + int(fields[12]),
        )

    def is_kernel(self, pid: int) -> bool:
        """Return whether `pid` is a kernel thread."""
        process = self.process(pid)
        return pid == KTHREADD or (process is not None and process.parent == KTHREADD)

    def is_ours(self, pid: int) -> bool:
        """Return whether `pid` is this process, its descendant or ancestor, or has our mark in its environment."""
        return (
            self._me in self.ancestry(pid)
            or pid in self.ancestry(self._me)
            or self._needle in self.read(pid, "environ", 1 << 17).split(b"\0")
        )

    def descendants(self, pid: int) -> list[int]:
        """Return the pids of all descendants of `pid`; empty if the kernel has no lists of children."""
        found = []
        with contextlib.suppress(OSError):
            for task in os.listdir(f"{self._root}/{pid}/task"):
                for word in self.read(pid, f"task/{task}/children", 1 << 16).split():
                    found += [int(word), *self.descendants(int(word))]
        return found

    def ours_below(self) -> list[int]:
        """Return the pids of the living descendants of this process."""
        return self.descendants(self._me)

    def who(self, pid: int) -> str:
        """Return a process in words, e.g. `name (pid 12, user alice)`."""
        process = self.process(pid)
        user = self.user(pid)
        return f"{one_line(process.name) if process else 'a process'} (pid {pid}{f', user {user}' if user else ''})"

    def since(self, pid: int) -> str:
        """Return when a process started, in UTC, e.g. `2026-03-01T10:00:00Z`; empty if it is gone."""
        process = self.process(pid)
        if process is None:
            return ""
        age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - process.start_ticks / os.sysconf("SC_CLK_TCK")
        return utc(time.time() - age_s)

    def read(self, pid: int, file: str, most: int = BYTES_MOST) -> bytes:
        """Return at most `most` bytes of /proc/PID/`file`; empty if the process is gone or we may not read it."""
        found = _read(f"{self._root}/{pid}/{file}", most)
        return found if found or file not in OF_MEMORY else _read(f"{folder_of(pid, self._root)}/{file}", most)

    def links(self, pid: int) -> list[str] | None:
        """Return the paths that the open file descriptors of `pid` point to; None if we may not read them."""
        folder, found = f"{folder_of(pid, self._root)}/fd", []
        try:
            names = os.listdir(folder)
        except PermissionError:
            return None
        except OSError:
            return []
        for name in names:
            with contextlib.suppress(OSError):
                found.append(os.readlink(f"{folder}/{name}"))
        return found

    def ancestry(self, pid: int) -> Iterator[int]:
        """Yield the pid itself, its parent's, and so on."""
        for _ in range(GENERATIONS_MOST):
            yield pid
            process = self.process(pid)
            if process is None or process.parent <= 0:
                return
            pid = process.parent

    def user(self, pid: int) -> str:
        """Return the name of a process' user, or the number of one without a name; empty if the process is gone."""
        import pwd

        try:
            number = os.stat(f"{self._root}/{pid}").st_uid
        except OSError:
            return ""
        try:
            return one_line(pwd.getpwuid(number).pw_name, 40)
        except KeyError:
            return str(number)


def utc(seconds: float) -> str:
    """Return a time, in `seconds` since 1970, as UTC in the form that records use, e.g. `2026-03-01T10:00:00Z`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _read(path: str, most: int) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, most)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
