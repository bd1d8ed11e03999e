"""Start a child process confined by expctl/launcher, with a result channel, a log and a deadline.

Every build, test, benchmark and profiler of a run is such a child. It runs in a session of its own with an allow-listed
environment, dies with expctl, and carries a mark in its environment by which the next run finds processes that survived. Its
standard output goes to a log; its results, one line each, go to a pipe (the result channel).
"""

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from msgspec.structs import replace

from expctl.adapters.child.redaction import redacted
from expctl.adapters.child.step_log import BYTES_KEPT, StepLog
from expctl.domain.text import plain_text
from expctl.launcher.disk_use import LOOK_EVERY_S, DiskWatch
from expctl.launcher.launch import LOG_BYTES_MAX, MARK, ChildLimits, Launch
from expctl.launcher.removal import empty
from expctl.launcher.running import GRACE_S, KILL_WAIT_S, Restless, Running, Unkillable, become_subreaper
from expctl.launcher.survivors import end_survivors

__all__ = [
    "MARK",
    "RESULT_FD",
    "Child",
    "ChildLimits",
    "Gone",
    "HeldOpen",
    "Launch",
    "TimedOut",
    "TooMuch",
    "Unkillable",
    "become_subreaper",
    "end_survivors",
    "log_tail",
]

RESULT_FD = "EXPCTL_RESULT_FD"
LINE_BYTES_MAX = 1 << 20
TAIL_BYTES = 20_000
HELD_OPEN_S = 1.0


class TimedOut(Exception):
    """The child process did not answer or end in time."""


class Gone(Exception):
    """The child process ended, or closed its result channel, before it answered a request."""


class HeldOpen(Gone):
    """The child process ended, but something that it started keeps the result channel open."""


class TooMuch(Gone):
    """The child process wrote more bytes to disk than it may, so expctl has killed it."""


@contextlib.contextmanager
def _opened(file: Path | None) -> Iterator[IO[bytes] | None]:
    if file is None:
        yield None  # a pipe
        return
    with open(file, "rb") as given:
        yield given


class Child:
    """A running child process, used as a context manager: on exit all its descendants are dead, or Unkillable is raised. While
    it is waited for, `on_look` is called about ten times a second.
    """

    def __init__(
        self,
        launch: Launch,
        *,
        grace_s: tuple[float, float] = GRACE_S,
        kill_wait_s: float = KILL_WAIT_S,
        on_look: Callable[[], None] = lambda: None,
    ) -> None:
        self._on_look = on_look
        self._log = StepLog(launch.log)
        reading, writing = os.pipe()
        for folder in launch.limits.scratch if launch.limits is not None else ():
            folder.mkdir(parents=True, exist_ok=True)
        told = replace(launch, environment={**launch.environment, RESULT_FD: str(writing)})
        try:
            with self._log.output() as log, _opened(launch.input) as given:
                self._running = Running(
                    told, stdin=given, stdout=log, pass_fds=(writing,), grace_s=grace_s, kill_wait_s=kill_wait_s
                )
        except BaseException:
            os.close(reading)
            self._log.close()
            raise
        finally:
            os.close(writing)
        self._launch = launch
        self._stdin = self._running.process.stdin
        self._watch = DiskWatch(launch.watched, launch.log, cap=launch.disk_bytes, log_cap=LOG_BYTES_MAX)
        self._results = reading
        self._buffer = b""
        self._is_stopped = False
        self._selector = selectors.DefaultSelector()
        self._selector.register(reading, selectors.EVENT_READ)

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def pid(self) -> int:
        """The pid of the child, which leads its process group."""
        return self._running.process.pid

    def send(self, line: str) -> None:
        """Write one line to the child's standard input. Raises Gone if the child has closed it."""
        assert self._stdin is not None  # noqa: S101  opened as a pipe above
        try:
            self._stdin.write(line.encode() + b"\n")
            self._stdin.flush()
        except (BrokenPipeError, OSError) as error:
            raise Gone(self.fate()) from error

    def close_input(self) -> None:
        """Close the child's standard input."""
        if self._stdin is not None:
            with contextlib.suppress(OSError):
                self._stdin.close()

    def lines(self, deadline_s: float) -> Iterator[str]:
        """Yield the lines of the child's result channel, with secrets masked, until the child closes the channel.

        Raises TimedOut at `deadline_s` (seconds of the monotonic clock), Gone for a line above 1 MiB, TooMuch if the child
        exceeds its disk limit, HeldOpen if it has ended HELD_OPEN_S before, without a close of the channel.
        """
        ended_s = 0.0
        while True:
            while b"\n" in self._buffer:
                line, self._buffer = self._buffer.split(b"\n", 1)
                yield redacted(line.decode(errors="replace"))
            left = deadline_s - time.monotonic()
            if left <= 0:
                raise TimedOut
            self._look()
            if not self._selector.select(min(left, LOOK_EVERY_S)):
                ended_s = ended_s or (time.monotonic() if self._running.status(0) is not None else 0.0)
                if ended_s and time.monotonic() - ended_s > HELD_OPEN_S:
                    raise HeldOpen("ended, but something that it started keeps the result channel open")
                continue
            if not self._fill():
                return
            if len(self._buffer) > LINE_BYTES_MAX and b"\n" not in self._buffer:
                raise Gone(f"a result line of more than {LINE_BYTES_MAX} bytes")

    def has_unread_lines(self) -> bool:
        """Return whether the result channel holds a line, or a part of one, that `lines` has not yielded yet."""
        return bool(self._buffer) or (bool(self._selector.select(0)) and self._fill())

    def wait(self, deadline_s: float) -> int:
        """Wait until the child ends; return its exit status, or minus the number of the signal that ended it. Raises TimedOut
        at `deadline_s` (seconds of the monotonic clock), TooMuch if the child exceeds its disk limit.
        """
        while True:
            left = max(0.0, deadline_s - time.monotonic())
            status = self._running.status(min(left, LOOK_EVERY_S))
            if status is not None:
                return status
            if not left:
                raise TimedOut
            self._look()

    def _fill(self) -> bool:  # False at the end of the channel
        chunk = os.read(self._results, 65536)
        self._buffer += chunk
        return bool(chunk)

    def stop(self) -> tuple[int, ...]:
        """Stop the child and its descendants until `go_on` is called; return the pids of those that have lost their parents.
        Raises Gone if they don't stand still.
        """
        self._is_stopped = True
        try:
            return self._running.halt()
        except Restless as error:
            raise Gone(str(error)) from error

    def go_on(self) -> bool:
        """Let the child and its descendants run again if `stop` stopped them; return whether none of them has run meanwhile."""
        was_stopped, self._is_stopped = self._is_stopped, False
        return not was_stopped or self._running.go_on()

    def fate(self) -> str:
        """Return how the child ended, in words, e.g. `exited with status 1`. Waits up to 1 s for its end."""
        status = self._running.status(1.0)
        if status is None:
            return "closed its result channel"
        return f"died of {_signal_name(-status)}" if status < 0 else f"exited with status {status}"

    def end(self) -> None:
        """End the child by INT, TERM and KILL, close its pipes, mask secrets in its log. Raises Unkillable if it survives."""
        self.close_input()
        self.go_on()
        try:
            self._running.end()
        finally:
            self._close()

    def _look(self) -> None:
        self._on_look()
        complaint = self._watch.complaint(self._running.pids)
        if complaint:
            self._running.kill()
            for folder in self._launch.limits.scratch if self._launch.limits is not None else ():
                empty(folder)
            self._log.cut(BYTES_KEPT)
            raise TooMuch(f"{complaint} and was ended")

    def _close(self) -> None:
        if self._results >= 0:
            self._selector.close()
            os.close(self._results)
            self._results = -1
            self._log.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have no name
        return f"signal {number}"


def log_tail(log: Path, lines: int = 3) -> str:
    """Return the last `lines` non-empty lines of a log, at most 300 characters, e.g. ` (first | second)`; "" if it has none."""
    try:
        with open(log, "rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            text = redacted(file.read(TAIL_BYTES).decode(errors="replace"))
    except OSError:
        return ""
    kept = [line.strip() for line in text.splitlines() if line.strip()][-lines:]
    said = plain_text(" | ".join(kept)[-300:])
    return f" ({said})" if said else ""
