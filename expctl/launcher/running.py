"""Start a process, and end it with all its descendants. Every child process except git is started by this module."""

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

from expctl.launcher.containment import Containment
from expctl.launcher.control_group import freeze_group, kill_group, pids_in, remove_group, thaw_group
from expctl.launcher.kernel import prctl
from expctl.launcher.launch import Launch
from expctl.launcher.namespaces import makers
from expctl.launcher.own_processes import end_with
from expctl.launcher.process import POLL_S, Identity, await_end, children_of, family_of, identity_of, is_stopped

GRACE_S = (2.0, 1.0)  # after INT, after TERM; then KILL
KILL_WAIT_S = 2.0
STOP_WAIT_S = 5.0
STOP_NS = 20_000  # of a thread that has stopped, but was interrupted on its way out
PR_SET_CHILD_SUBREAPER = 36

_live: set[int] = set()  # pids of our running children: any other child of ours is an orphan that the subreaper got
_undead: "dict[Identity, subprocess.Popen[bytes]]" = {}  # outlived KILL -> the child that started it, to be reaped


class Unkillable(Exception):
    """Processes still run after SIGKILL, because a system call blocks them. Nothing may be measured beside them."""

    def __init__(self, processes: Sequence[Identity]) -> None:
        pids = ", ".join(str(each.pid) for each in processes)
        super().__init__(f"can't be killed (pid {pids}): nothing is measured until it is gone")


class Restless(Exception):
    """Processes that were stopped did not stand still, so nothing may be timed beside them."""

    def __init__(self) -> None:
        super().__init__(f"was stopped and did not stand still within {STOP_WAIT_S:g} s")


def start_own(
    argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], stderr: IO[bytes]
) -> "subprocess.Popen[bytes]":
    """Start a program of expctl itself, with pipes as its input and output. It confines what it starts, and is killed when the
    calling thread ends. Raises OSError if it can't be started.
    """
    runner = os.getpid()
    return subprocess.Popen(
        list(argv),
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        start_new_session=True,
        preexec_fn=lambda: end_with(runner),  # noqa: PLW1509  one system call
    )


def become_subreaper() -> None:
    """Make this process the parent of orphaned descendants, so that they can be found and killed."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


class Running:
    """A started process in a session and, if possible, a control group of its own. Its owner must call `end` or `kill`. `stdin`
    None gives it a pipe as input; `stderr` None sends its errors to `stdout`. Raises OSError if it can't be started.

    With `adopts`, this process becomes the parent of the child's orphans and kills, at the child's end, every child of its own
    that it doesn't know: not where it is somebody else's program, with children of its own.
    """

    def __init__(
        self,
        launch: Launch,
        *,
        stdin: IO[bytes] | None,
        stdout: IO[bytes],
        stderr: IO[bytes] | None = None,
        pass_fds: tuple[int, ...] = (),
        grace_s: tuple[float, float] = GRACE_S,
        kill_wait_s: float = KILL_WAIT_S,
        adopts: bool = True,
    ) -> None:
        self._grace_s, self._kill_wait_s, self._adopts = grace_s, kill_wait_s, adopts
        if adopts:
            become_subreaper()
        self._others = frozenset(children_of(os.getpid()))
        containment = Containment(launch)
        self._group, self._containment = containment.group, containment
        try:
            with containment.starting():
                self.process = subprocess.Popen(
                    list(launch.argv),
                    cwd=launch.cwd,
                    env=dict(launch.environment),
                    stdin=subprocess.PIPE if stdin is None else stdin,
                    stdout=stdout,
                    stderr=subprocess.STDOUT if stderr is None else stderr,
                    pass_fds=pass_fds,
                    start_new_session=True,
                    preexec_fn=containment.enter,  # noqa: PLW1509  see containment.py
                )
        except BaseException:
            containment.ended()
            if self._group is not None:
                self._group.remove()
            raise
        finally:
            containment.release()
        _live.add(self.process.pid)
        self._ended = self._is_frozen = False
        self._halted: dict[Identity, int | None] = {}  # and the processor time that each had taken

    def pids(self) -> tuple[int, ...]:
        """Return the pids of the process and its descendants; without a control group, orphaned descendants are missing."""
        return pids_in(self._group.folder) if self._group is not None else family_of(self.process.pid)

    def _strays(self) -> tuple[int, ...]:
        """Return the pids of descendants that have lost their parents. Where these become children of this process, they are
        its children that it neither started nor had when it started this one.
        """
        spared = {each.pid for each in _undead} | self._others | _live | makers()
        adopted = children_of(os.getpid()) if self._adopts else ()
        return tuple(pid for pid in (*adopted, *self._containment.orphans()) if pid not in spared)

    def status(self, wait_s: float) -> int | None:
        """Wait at most `wait_s` seconds and return the exit status (negative: minus the signal); None if it still runs."""
        if self.process.poll() is None and wait_s > 0:
            try:
                descriptor = os.pidfd_open(self.process.pid)
            except OSError:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(wait_s)
            else:
                try:
                    waiting = select.poll()
                    waiting.register(descriptor, select.POLLIN)
                    waiting.poll(wait_s * 1000)
                finally:
                    os.close(descriptor)
        return self.process.poll()

    def send(self, number: signal.Signals) -> None:
        """Send the signal `number` to the process's group; do nothing once the process was ended."""
        if not self._ended:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)

    def halt(self) -> tuple[int, ...]:
        """Stop the process and its descendants, also those that have left its process group, until `go_on`. Return the pids of
        those that have lost their parents. Raises Restless.
        """
        if self._group is not None and self.process.pid in self.pids():
            self._is_frozen = True
            if not freeze_group(self._group.folder, STOP_WAIT_S):  # a stop by SIGSTOP could be undone, by a timer of their own
                raise Restless
            if self._containment.has_own_processes and self.pids() == (self.process.pid,):
                return ()  # asked at each turn of a worker; what is in a pid namespace of its own can't leave the group either
        else:
            self._stop()
        return self._left_behind()

    def _left_behind(self) -> tuple[int, ...]:
        left = self._containment.orphans() if self._containment.has_own_processes else self._strays()
        return tuple(pid for pid in left if identity_of(pid) is not None)

    def _stop(self) -> None:
        """Stop all by SIGSTOP, and wait until every thread has stopped and no processor time is taken any more."""
        self.send(signal.SIGSTOP)
        deadline = time.monotonic() + STOP_WAIT_S
        while True:
            found, before = _identities({*self.pids(), *_families(self._left_behind())}), self._halted
            for each in set(found) - before.keys():
                each.send(signal.SIGSTOP)
            self._halted = {each: each.processor_ns() for each in {*before, *found}}
            if self._halted == before and all(is_stopped(each.pid) for each in found) and not self._has_run():
                return
            if time.monotonic() > deadline:
                raise Restless
            time.sleep(POLL_S / 50)

    def _has_run(self) -> bool:
        times = ((before, each.processor_ns()) for each, before in self._halted.items())
        return any((after or 0) - (before or 0) > STOP_NS or (after is None) != (before is None) for before, after in times)

    def go_on(self) -> bool:
        """Let run again what `halt` has stopped; return whether none of it has run meanwhile."""
        if self._is_frozen and self._group is not None:
            thaw_group(self._group.folder)
            self._is_frozen = False
            return True
        stood = self.process.poll() is not None or not self._has_run()
        for each in self._halted:
            each.send(signal.SIGCONT)
        self._halted.clear()
        self.send(signal.SIGCONT)
        return stood

    def end(self) -> None:
        """Send SIGINT, after a pause SIGTERM, then kill the process and all its descendants. Do nothing in a second call.
        Raises Unkillable if some still run.
        """
        if self._ended:
            return
        for number, patience_s, grace_s in zip((signal.SIGINT, signal.SIGTERM), (0.2, 0.0), self._grace_s, strict=True):
            if self.status(patience_s) is None:
                self.send(number)
                self.status(grace_s)
        self.kill()

    def kill(self) -> None:
        """Kill the process and its descendants at once. Do nothing in a second call. Raises Unkillable if some still run."""
        if self._ended:
            return
        before = _identities(self.pids())
        if self._group is not None:
            kill_group(self._group.folder)
        if self._group is None or self.process.returncode is None:  # for members left behind when the leader is gone
            self.send(signal.SIGKILL)
        self._ended = True
        self.status(self._kill_wait_s)
        _live.discard(self.process.pid)
        orphans = _end_orphans(self._strays, self._kill_wait_s) if self._adopts else ()
        self._containment.ended()
        left = tuple({*orphans, *await_end(before, self._kill_wait_s)})
        if self._group is not None:
            self._group.close()
            remove_group(self._group.folder, self._kill_wait_s if not left else 0)
        if left:
            _undead.update(dict.fromkeys(left, self.process))
            raise Unkillable(left)


def undead() -> tuple[Identity, ...]:
    """Return the processes that could not be killed earlier and still run."""
    for each in [each for each in _undead if not each.is_alive()]:
        _undead.pop(each).poll()
    return tuple(_undead)


def _end_orphans(strays: Callable[[], Sequence[int]], wait_s: float) -> tuple[Identity, ...]:
    """Kill what `strays` returns, orphaned descendants of a child, with their families; return those that still run after
    `wait_s` seconds.
    """
    deadline = time.monotonic() + wait_s
    while found := strays():
        families = _identities(_families(found))
        for each in families:
            each.send(signal.SIGKILL)
        for stray in found:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(stray, os.WNOHANG)
        if time.monotonic() > deadline:
            return tuple(families)
        time.sleep(POLL_S)
    return ()


def _families(pids: Iterable[int]) -> list[int]:
    return [each for pid in pids for each in family_of(pid)]


def _identities(pids: Iterable[int]) -> list[Identity]:
    return [found for pid in pids if (found := identity_of(pid)) is not None]
