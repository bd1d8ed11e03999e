"""Start a process in a pid namespace that exists, where it sees and numbers no process but those of its own launches.

A process doesn't move itself: what it starts afterwards is inside. Root has the runner's own next child start there. Another
user has rights over the namespace only within the user namespace that it belongs to, which the runner can't enter and leave
again: the child that the runner knows stays outside, and starts another one that becomes the program.
"""

import contextlib
import functools
import os
import signal
from collections.abc import Iterator
from typing import NoReturn

from expctl.launcher.kernel import prctl, setns

PR_SET_PDEATHSIG = 1
NO_RUNNER = 127
OUTSIDE = 0  # what getppid says inside a pid namespace of a parent that is outside
DESCRIPTORS_MAX = 1 << 20
SIGNALS = frozenset(map(int, signal.valid_signals()))


def children_of_task(pid: int, task: int | str) -> tuple[int, ...]:
    """Return the pids of the children that one thread of a process started, including zombies. Raises FileNotFoundError."""
    with open(f"/proc/{pid}/task/{task}/children", "rb", buffering=0) as file:  # asked at each turn of a worker
        return tuple(map(int, file.read().split()))


def end_with(parent: int) -> None:
    """Have the kernel kill the calling process when its parent `parent` ends; end it now if that has happened already."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died between fork and prctl, and nobody would ever signal this process
        os._exit(NO_RUNNER)


@contextlib.contextmanager
def next_child_in(descriptor: int | None) -> Iterator[None]:
    """Return a context in which what the calling thread starts is in the pid namespace `descriptor`, if there is one. Raises
    OSError.
    """
    if descriptor is None:
        yield
        return
    own = _own_namespace()
    setns(descriptor)
    try:
        yield
    finally:
        setns(own)


def go_on_inside(descriptor: int) -> None:
    """Return in a new process in the pid namespace `descriptor`; the calling process, a child before exec, stays outside, waits
    for it, and ends with its exit status or by the signal that ended it. Raises OSError.
    """
    setns(descriptor)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, the kernel keeps no exit status
    program = os.fork()
    if program:
        _end_as(program)
    end_with(OUTSIDE)


def _end_as(program: int) -> NoReturn:
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # they are for the program, a member of the same process group
        os.closerange(0, DESCRIPTORS_MAX)
        _, status = os.waitpid(program, 0)
        if os.WIFEXITED(status):
            os._exit(os.WEXITSTATUS(status))
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    finally:
        os._exit(NO_RUNNER)


@functools.cache
def _own_namespace() -> int:
    return os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
