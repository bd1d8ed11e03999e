"""One launcher for everything that is started: a contained child with a result channel, a log and a deadline.

A child runs in a session of its own with an allow-listed environment, dies with the runner (PDEATHSIG) and carries a mark by
which the next run finds survivors. Its standard output goes to a log, its results to a pipe.
"""

import contextlib
import ctypes
import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from expctl.domain.text import plain_text
from expctl.domain.values import dataclass

RESULT_FD = "EXPCTL_RESULT_FD"
MARK = "EXPCTL_RUN"
LINE_BYTES_MAX = 1 << 20
FILE_BYTES_MAX = 1 << 30
GRACE_S = (2.0, 1.0)  # after INT, after TERM; then KILL
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

_live: set[int] = set()  # pids of our running children: everything else below us is an orphan that came to the subreaper

_libc = ctypes.CDLL(None, use_errno=True)


class TimedOut(Exception):
    """The child did not answer in time."""


class Gone(Exception):
    """The child ended or closed its result channel before it answered."""


@contextlib.contextmanager
def _opened(file: Path | None) -> Iterator[IO[bytes] | int]:
    """The file, or what makes Popen open a pipe."""
    if file is None:
        yield subprocess.PIPE
        return
    with open(file, "rb") as given:
        yield given


def become_subreaper() -> None:
    """Orphaned grandchildren become ours, so that they can be found and ended."""
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What to start: argv (no shell), where, with which environment, pinned to which core, logging where. `input` is a file
    for its standard input; without one that is a pipe of ours.
    """

    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    log: Path
    core: int | None = None
    input: Path | None = None


class Child:
    """A running child. Use as a context manager: on exit its whole process group is gone."""

    def __init__(self, launch: Launch) -> None:
        reading, writing = os.pipe()
        launch.log.parent.mkdir(parents=True, exist_ok=True)
        runner = os.getpid()

        def contain() -> None:
            _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != runner:  # the runner died between fork and prctl
                os._exit(127)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))
            if launch.core is not None:
                os.sched_setaffinity(0, {launch.core})

        try:
            with open(launch.log, "ab") as log, _opened(launch.input) as given:
                self._process = subprocess.Popen(
                    list(launch.argv),
                    cwd=launch.cwd,
                    env={**launch.environment, RESULT_FD: str(writing)},
                    stdin=given,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    pass_fds=(writing,),
                    start_new_session=True,
                    preexec_fn=contain,  # noqa: PLW1509  the runner has no threads
                )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        _live.add(self._process.pid)
        self._results = reading
        self._buffer = b""
        self._is_stopped = False
        self._selector = selectors.DefaultSelector()
        self._selector.register(reading, selectors.EVENT_READ)

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def send(self, line: str) -> None:
        """Write one line to the child's standard input. Raises Gone when nobody reads it."""
        assert self._process.stdin is not None  # noqa: S101  opened as a pipe above
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except (BrokenPipeError, OSError) as error:
            raise Gone(self.fate()) from error

    def close_input(self) -> None:
        """Nothing more will be sent."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def lines(self, deadline_s: float) -> Iterator[str]:
        """Result lines until the channel closes. Raises TimedOut past `deadline_s` (monotonic), Gone on a flood."""
        while True:
            while b"\n" in self._buffer:
                line, self._buffer = self._buffer.split(b"\n", 1)
                yield line.decode(errors="replace")
            left = deadline_s - time.monotonic()
            if left <= 0 or not self._selector.select(left):
                raise TimedOut
            chunk = os.read(self._results, 65536)
            if not chunk:
                return
            self._buffer += chunk
            if len(self._buffer) > LINE_BYTES_MAX and b"\n" not in self._buffer:
                raise Gone(f"a result line of more than {LINE_BYTES_MAX} bytes")

    def wait(self, deadline_s: float) -> int:
        """The exit status (negative: the signal). Raises TimedOut past `deadline_s` (monotonic)."""
        try:
            return self._process.wait(max(0.0, deadline_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise TimedOut from None

    def stop(self) -> None:
        """Halt the whole group until `go_on`."""
        self._signal_group(signal.SIGSTOP)
        self._is_stopped = True

    def go_on(self) -> None:
        """Let a stopped group run again."""
        if self._is_stopped:
            self._signal_group(signal.SIGCONT)
            self._is_stopped = False

    def fate(self) -> str:
        """How it ended, in words."""
        try:
            status = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return "closed its result channel"
        return f"died of {signal.Signals(-status).name}" if status < 0 else f"exited with status {status}"

    def end(self) -> None:
        """INT, TERM, KILL to the whole group; then the pipes are closed."""
        self.close_input()
        self.go_on()
        if self._process.poll() is None and self._buffer is not None:
            self._end_group()
        self._signal_group(signal.SIGKILL)  # whoever stayed behind in the group
        self._process.wait()
        _live.discard(self._process.pid)
        _end_orphans()
        if self._results >= 0:
            self._selector.close()
            os.close(self._results)
            self._results = -1

    def _end_group(self) -> None:
        for number, grace_s in zip((signal.SIGINT, signal.SIGTERM), GRACE_S, strict=True):
            try:
                self._process.wait(0.2 if number is signal.SIGINT else 0)
                return
            except subprocess.TimeoutExpired:
                self._signal_group(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(grace_s)
                return
        self._signal_group(signal.SIGKILL)

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _end_orphans() -> None:
    """Kill what a child left behind outside its group: as subreaper, we are its parent now. Done when nothing is left."""
    import psutil

    for _ in range(100):
        strays = [child for child in psutil.Process().children() if child.pid not in _live]
        if not strays:
            return
        for stray in strays:
            with contextlib.suppress(psutil.Error):
                for process in (*stray.children(recursive=True), stray):
                    process.kill()
        for stray in strays:
            with contextlib.suppress(psutil.Error, psutil.TimeoutExpired):
                stray.wait(1.0)


def end_survivors(mark: str) -> int:
    """Kill every process that carries `mark` and is not this one: what a dead run left behind. Returns how many."""
    needle = f"{MARK}={mark}".encode()
    ended = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if needle in environment:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(entry.name), signal.SIGKILL)
                ended += 1
    with contextlib.suppress(ChildProcessError):  # reap what was re-parented to us
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return ended


def log_tail(log: Path, lines: int = 3) -> str:
    """` (what the log said last)`: its last non-empty lines in one line, at most 300 characters; empty when it is empty."""
    try:
        text = log.read_bytes()[-20_000:].decode(errors="replace")
    except OSError:
        return ""
    kept = [line.strip() for line in text.splitlines() if line.strip()][-lines:]
    said = plain_text(" | ".join(kept)[-300:])
    return f" ({said})" if said else ""
