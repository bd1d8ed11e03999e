"""The process that runs the Python of a launch description. It is one of its own, so that what ends it ends no check.

It answers first what the file defines, then what `reference` returns for each request, until the other side closes.
"""

from __future__ import annotations

import os
import pickle
import runpy
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from traceback import format_exception_only
from types import FrameType
from typing import Any

from expctl.domain.text import one_line

NO_PLAIN_DATA = "what it gives is no plain data (dicts, lists, numbers, text, numpy arrays): "


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the user's code gave; or the error that it ended with, and the last line of the file on the way there, 0 if none."""

    given: Any = None
    error: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Defined:
    """What a file defines by these names, None if nothing; `is_function` is of its reference."""

    case: Any
    has_reference: bool
    is_function: bool


def serve(descriptor: int, file: str, seconds_most: float) -> None:
    """Run `file` and answer over the socket `descriptor`, as long as it is open. What it runs may import what lies beside it; a
    process that it forks ends where it would answer.
    """
    process = os.getpid()
    sys.path.insert(0, str(Path(file).resolve().parent))
    reference: Any = None

    def define() -> Defined:
        nonlocal reference
        names = runpy.run_path(file)
        reference = names.get("reference")
        return Defined(case=names.get("case"), has_reference=reference is not None, is_function=callable(reference))

    def answer(work: Callable[[], Any]) -> None:
        answered = _answered(work, file, seconds_most)
        if os.getpid() != process:
            os._exit(0)
        connection.send_bytes(answered)

    with suppress(EOFError, OSError), Connection(descriptor) as connection:
        answer(define)
        while True:
            answer(partial(reference, *connection.recv()))


def _answered(work: Callable[[], Any], file: str, seconds_most: float) -> bytes:
    """Return a pickled Answer: what `work` returns, or what it raised, be it an exit or the end of its time."""

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signature of a handler
        raise TimeoutError(f"it goes on after {seconds_most:g} seconds")

    signal.signal(signal.SIGALRM, end)
    told = ""
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds_most)
        given = work()
        told = NO_PLAIN_DATA
        answered = pickle.dumps(Answer(given=given))
        signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException as error:  # noqa: BLE001  whatever it is, it is told
        signal.setitimer(signal.ITIMER_REAL, 0)
        return pickle.dumps(_failure(error, file, told))
    return answered


def _failure(error: BaseException, file: str, told: str) -> Answer:
    line, trace = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return Answer(error=one_line(told + "".join(format_exception_only(error)[-1:]), 300), line=line or 0)
