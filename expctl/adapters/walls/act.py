"""What a forbidden act of the walls' self-test is. It is tried in the child, so this needs the standard library alone."""

import errno
import os
from collections.abc import Callable
from typing import NamedTuple

from expctl.launcher.kernel import system_call
from expctl.launcher.system_calls import ARCHITECTURES

LANDLOCK = "Landlock (Linux 5.13)"
LANDLOCK_CPU = "Landlock, where there is no GPU"
CUT = "Landlock 3 (Linux 6.2)"
TCP = "Landlock 4 (Linux 6.7)"
SCOPES = "Landlock 6 (Linux 6.12)"
SPACES = "namespaces (root, or user namespaces)"
SPACES_CPU = "namespaces, where there is no GPU"
PROCESSES = "a pid namespace (namespaces, and a /proc of its own)"
CALLS = "a filter of system calls (seccomp)"
CALLS_CPU = "a filter of system calls, where there is no GPU"
RIGHTS = "fewer capabilities, no new privileges"
LIMITS = "limits of the child"
LAUNCHER = "the launcher"


class Victims(NamedTuple):
    """What the self-test made for its acts: folders, this act's own among them (`folder`), processes, sockets, shared memory.

    `descriptor` is one that the process `bystander` holds; `port` and `packets` are ports of the loopback that are listened to,
    `free` is one that nobody uses; `network` and `numbers` are the inodes of the runner's network and pid namespace. `terminal`
    is one of the runner's, `device` one that takes commands through a descriptor that only reads, `log` the kernel's log; each
    is "" where there is none.
    """

    folder: str
    scratch: str
    runner: int
    bystander: int
    descriptor: int
    port: int
    packets: int
    free: int
    nameless: str
    network: int
    numbers: int
    segment: int
    shared: str
    terminal: str
    device: str
    log: str
    results: int

    @property
    def file(self) -> str:
        """Return the path of a file outside that belongs to this act alone."""
        return os.path.join(self.folder, "file")


class Act(NamedTuple):
    """A forbidden act. `attempt` raises OSError if it is stopped, and Absent if the machine lacks what it acts on.

    `by` is what stops it, each alone. If `seen`, returning proves nothing: only what the runner sees afterwards counts.
    """

    name: str
    by: tuple[str, ...]
    seen: bool
    attempt: Callable[[Victims], object]


class Absent(Exception):
    """The machine lacks what the act is about, e.g. the system call."""


ACTS: list[Act] = []


def act(name: str, *by: str, seen: bool = False) -> Callable[[Callable[[Victims], object]], Callable[[Victims], object]]:
    """Return a decorator that enters a function as the act `name`, which each of `by` stops."""

    def enter(attempt: Callable[[Victims], object]) -> Callable[[Victims], object]:
        ACTS.append(Act(name, by, seen, attempt))
        return attempt

    return enter


def call(name: str, numbers: tuple[int, int], *arguments: object) -> int:
    """Make the system call whose `numbers` are those of x86-64 and aarch64. Raises OSError, Absent on another machine."""
    column = ARCHITECTURES.get(os.uname().machine)
    if column is None:
        raise Absent
    return system_call(numbers[column[0]], name, *arguments)


def refused(what: str) -> OSError:
    """Return the error of an act that found itself stopped by something else than an error of the kernel."""
    return OSError(errno.EPERM, what)
