"""Starts, asks, reads, times and watches the sandbox worker, from a process that never loads a build.

What the worker says about itself counts only where it agrees with what is seen here: its outputs (by reading its memory), its
times (by this process's clock and the processor time it is charged) and its behaviour (by what the operating system knows).
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

from expctl.harness.report import BuildFailed, Fault
from kernel.harness import process_audit
from kernel.harness.confine import hide, landlock_version
from kernel.harness.sandbox_worker import ERRORS, Answer, SandboxWorker

ANSWER_BYTES_MAX = 1 << 20
PATIENCE_S = 1.0
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_CPUCLOCK_SCHED = 2
_libc = ctypes.CDLL(None, use_errno=True)
_prepared: list[Supervisor] = []


def prepare() -> None:
    """Fork a sandbox worker now. Call this in a script's first lines, before a secret is read or numpy loaded."""
    _prepared.append(Supervisor())


def prepared() -> Supervisor:
    """Return the worker that `prepare` forked, or fork one."""
    return _prepared.pop() if _prepared else Supervisor()


class _Piece(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class Supervisor:
    """Supervises one sandbox worker.

    A request raises the exception of `ERRORS` that the worker names, BuildFailed if it died or said what it was not asked.
    """

    def __init__(self) -> None:
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        parent = os.getpid()
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # processes that the worker leaves behind become children of this one
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
        """Whether the worker was found dead."""
        return self._death is not None

    def confine(self, target: str) -> None:
        """Confine the worker, before it loads a build. `confinement` says in words what holds."""
        if not landlock_version():
            hide()  # what Landlock does for every process outside of the sandbox
        self.confinement = str(self.ask("confine", target=target)["confinement"])

    def ask(self, do: str, **words: object) -> Answer:
        """Send the request `do` with its `words` and return its answer."""
        self._asked += 1
        self._send(json.dumps([self._asked, do, words]).encode() + b"\n", do)
        return self._parsed(self._read_line(do), do)

    def go(self, words: bytes = b"") -> tuple[Answer, int]:
        """Make the launches that a request armed before; `words` (CPU only) are the number of the buffers and the scale.

        Returns the answer and the ns from order to answer by this process's CLOCK_MONOTONIC_RAW.
        """
        clock, raw = time.clock_gettime_ns, time.CLOCK_MONOTONIC_RAW
        self._asked += 1
        order = b"g%d %s\n" % (self._asked, words)
        begin = clock(raw)
        self._send(order, "go")
        line = self._read_line("go")
        wall_ns = clock(raw) - begin
        return self._parsed(line, "go"), wall_ns

    def cpu_time_ns(self) -> int:
        """Return the processor time in ns that the operating system has charged all threads of the worker so far."""
        return time.clock_gettime_ns(self._clock)

    def write(self, address: int, source: int, size: int) -> None:
        """Copy `size` bytes from `source` here to `address` in the worker. Raises Fault."""
        self._copy(_libc.process_vm_writev, source, address, size)

    def read(self, target: int, address: int, size: int) -> None:
        """Copy `size` bytes from `address` in the worker to `target` here. Raises Fault."""
        self._copy(_libc.process_vm_readv, target, address, size)

    def audit_process(self) -> None:
        """Raise BuildFailed if the worker took other cores or another priority, or started a process."""
        seen = process_audit.violation(self.pid, self._given)
        if seen:
            raise BuildFailed(f"the process that runs the build {seen}")

    def end(self) -> None:
        """End the worker with SIGKILL and close its pipes."""
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
        """Raise why the worker stopped answering: how it died, which may show a moment later, or that it closed its pipe."""
        deadline_s = time.monotonic() + PATIENCE_S
        while not (ended := os.waitpid(self.pid, os.WNOHANG))[0] and time.monotonic() < deadline_s:
            time.sleep(0.001)
        if not ended[0]:
            raise BuildFailed(f"the process that runs the build closed its channel ({do})")
        self._death = process_audit.death(ended[1], do)
        raise self._death


def _serve(parent: int, requests: int, answers: int) -> NoReturn:
    """Answer requests until they end. The forked child stays in this function."""
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
    """Give up what was inherited, but for the log and the two pipes: descriptors, standard input, EXPCTL_RESULT_FD."""
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
