"""A cell from outside: it is started, asked, read, timed and watched here, by a process that never loads a build.

What the cell says about itself is used only as far as it agrees with what is seen from here: its outputs by reading its memory,
its time by our clock and by what the kernel charges it, its conduct by what the kernel knows of it.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import time
import traceback
from typing import Any, NoReturn

from kernel.harness import process_audit
from kernel.harness.confine import hide, landlock_version
from kernel.harness.report import BuildFailed, Fault
from kernel.harness.sandbox_worker import ERRORS, Answer, SandboxWorker

ANSWER_BYTES_MAX = 1 << 20
PATIENCE_S = 1.0
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_CPUCLOCK_SCHED = 2
_libc = ctypes.CDLL(None, use_errno=True)
_prepared: list[Supervisor] = []


def prepare() -> None:
    """Fork a cell now: the sooner, the less it can know. For a script's first lines, before it loads numpy or reads a word."""
    _prepared.append(Supervisor())


def prepared() -> Supervisor:
    """The cell that was forked at the start, or a new one."""
    return _prepared.pop() if _prepared else Supervisor()


class _Piece(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class Supervisor:
    """Of one cell. Requests raise what the cell says the build refused (`cell.ERRORS`), and BuildFailed when it died or said
    something that it was not asked.
    """

    def __init__(self) -> None:
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        parent = os.getpid()
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # whom the cell leaves behind becomes ours, and is found
        self.pid = os.fork()
        if self.pid == 0:
            _serve(parent, requests, answers)
        os.close(requests)
        os.close(answers)
        self._clock = (~self.pid << 3) | _CPUCLOCK_SCHED
        self._given = process_audit.Scheduling.of(parent)
        self.confinement, self._asked = "", 0
        self._death: BuildFailed | Fault | None = None

    @property
    def is_dead(self) -> bool:
        """It died by itself, and that was seen."""
        return self._death is not None

    def confine(self, target: str) -> None:
        """Before a build is loaded."""
        if not landlock_version():
            hide()  # what Landlock does for every process outside of the cell
        self.confinement = str(self.ask("confine", target=target)["confinement"])

    def ask(self, do: str, **words: object) -> Answer:
        """One request, one answer."""
        self._asked += 1
        self._send(json.dumps([self._asked, do, words]).encode() + b"\n", do)
        return self._parsed(self._read_line(do), do)

    def go(self, words: bytes = b"") -> tuple[Answer, int]:
        """What was armed, with `words` (on a CPU: stage and scale); with the nanoseconds by our
        clock from the order until the answer."""
        clock, raw = time.clock_gettime_ns, time.CLOCK_MONOTONIC_RAW
        self._asked += 1
        order = b"g%d %s\n" % (self._asked, words)
        begin = clock(raw)
        self._send(order, "go")
        line = self._read_line("go")
        wall_ns = clock(raw) - begin
        return self._parsed(line, "go"), wall_ns

    def cpu_time_ns(self) -> int:
        """Processor time of all the cell's threads so far, by the kernel's account."""
        return time.clock_gettime_ns(self._clock)

    def write(self, address: int, source: int, size: int) -> None:
        """Copy `size` bytes of ours at `source` into the cell's memory."""
        self._copy(_libc.process_vm_writev, source, address, size)

    def read(self, target: int, address: int, size: int) -> None:
        """Copy `size` bytes of the cell's memory to `target`."""
        self._copy(_libc.process_vm_readv, target, address, size)

    def audit_process(self) -> None:
        """Raises BuildFailed for what the kernel knows of the cell: another core or priority, a process that it started."""
        seen = process_audit.violation(self.pid, self._given)
        if seen:
            raise BuildFailed(f"the process that runs the build {seen}")

    def end(self) -> None:
        """The cell is gone."""
        for descriptor in (self._requests, self._answers):
            os.close(descriptor)
        if not self.is_dead:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def _copy(self, copy: Any, ours: int, theirs: int, size: int) -> None:
        here, there = _Piece(ours, size), _Piece(theirs, size)
        done = copy(self.pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
        if done != size:
            why = os.strerror(ctypes.get_errno()) if done < 0 else f"{done} of {size} bytes"
            raise Fault(f"the memory of the process that runs the build can't be reached: {why}")

    def _send(self, line: bytes, do: str) -> None:
        if self._death is not None:
            raise self._death
        try:
            os.write(self._requests, line)
        except BrokenPipeError:
            self._raise_death(do)

    def _read_line(self, do: str) -> bytes:
        heard = b""
        while not heard.endswith(b"\n"):
            more = os.read(self._answers, 65536)
            heard += more
            if not more:
                self._raise_death(do)
            if b"\n" in heard[:-1] or len(heard) > ANSWER_BYTES_MAX:
                raise BuildFailed(f"the process that runs the build said more than it was asked ({do})")
        return heard

    def _parsed(self, line: bytes, do: str) -> Answer:
        try:
            number, answer = json.loads(line)
            error, text = answer.get("error"), answer.get("text")
        except (ValueError, TypeError, AttributeError) as unreadable:
            raise BuildFailed(f"the process that runs the build answered {line[:80]!r} ({do})") from unreadable
        if number != self._asked:
            raise BuildFailed(f"the process that runs the build said something that it was not asked ({do})")
        if error in ERRORS:
            raise ERRORS[error](str(text))
        return dict(answer)

    def _raise_death(self, do: str) -> NoReturn:
        """Its death may be a moment behind the end of its words; one that lives on without them doesn't."""
        deadline_s = time.monotonic() + PATIENCE_S
        while not (ended := os.waitpid(self.pid, os.WNOHANG))[0] and time.monotonic() < deadline_s:
            time.sleep(0.001)
        if not ended[0]:
            raise BuildFailed(f"the process that runs the build closed its channel ({do})")
        self._death = process_audit.death(ended[1], do)
        raise self._death


def _serve(parent: int, requests: int, answers: int) -> NoReturn:
    """The life of a cell."""
    try:
        _drop_inherited(parent, requests, answers)
        gc.disable()
        worker = SandboxWorker()
        with os.fdopen(requests, "rb") as lines:
            for line in lines:
                os.write(answers, worker.answer_line(line))
    except BaseException:  # noqa: BLE001  a forked child must not go on in its parent's code
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _drop_inherited(parent: int, requests: int, answers: int) -> None:
    """Keep nothing of the parent's but the log and the two pipes."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died between fork and prctl
        os._exit(127)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ.pop("EXPCTL_RESULT_FD", None)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in (0, 1, 2, requests, answers):
            try:
                os.close(int(name))
            except OSError:  # the descriptor of the listing itself
                continue
