"""Run the Python of a launch description within limits, and say what goes wrong in it as an error with its line."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from traceback import format_exception_only
from types import FrameType

from expctl.domain.errors import Refused
from expctl.domain.text import one_line

SECONDS_MOST = 60.0


@contextmanager
def users_code(path: Path, where: str) -> Iterator[None]:
    """While the Python of the user's file `path` runs, it may import what lies beside it, and prints to standard error. Raises
    Refused for whatever it raises but an interrupt, and when it goes on for more than SECONDS_MOST.
    """
    beside = str(path.resolve().parent)
    sys.path.insert(0, beside)
    try:
        with redirect_stdout(sys.stderr), _time_limit():
            yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _failed(error, path, where) from error
    finally:
        if beside in sys.path:
            sys.path.remove(beside)


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise TimeoutError after SECONDS_MOST, where a signal can do so: in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGALRM, _end)
    timer = signal.setitimer(signal.ITIMER_REAL, SECONDS_MOST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signature of a handler
    raise TimeoutError(f"it goes on after {SECONDS_MOST:g} seconds")


def _failed(error: BaseException, path: Path, where: str) -> Refused:
    """Return the error, not raised, that the user's Python file at `path` raised `error`; it names the last line there."""
    line, trace = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return Refused(
        "the Python of the launch description failed",
        code="case-failed",
        expected="a file that defines case, and reference if you like",
        found=one_line("".join(format_exception_only(error)[-1:]), 300),
        where=f"{where}:{line}" if line else where,
        hint="correct that line, and run again",
    )
