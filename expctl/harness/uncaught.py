"""Says why a script ended that ended without `serve`: a package that is missing, a line that fails, a forgotten `serve`."""

from __future__ import annotations

import atexit
import os
import sys
from types import TracebackType
from typing import Any, NoReturn

from expctl.harness.mistake import Mistake, Place, frames, place_of
from expctl.harness.report import FAULTY, RESULT_FD, Report

SERVED: list[Any] = []
_watching: list[bool] = []


def report_what_ends_the_script() -> None:
    """Report an exception that nobody catches, and an end without `serve`, on the result channel."""
    if os.environ.get(RESULT_FD) and not _watching:
        _watching.append(True)
        sys.excepthook = _uncaught
        atexit.register(_not_served)


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    sys.__excepthook__(kind, error, trace)
    if not SERVED and isinstance(error, Exception):
        place = next(frames(trace), None)
        if isinstance(error, ModuleNotFoundError):
            _end(Mistake(f"the package {error.name} for {sys.executable}: install it there", "none", place))
        if isinstance(error, Mistake):
            error.place = error.place or place
            _end(error)
        _end(Mistake("this line to run", f"{kind.__name__}: {error}", place))


def _not_served() -> None:
    from expctl.harness.kernel import DEFINED

    if DEFINED and not SERVED and not hasattr(sys, "last_value"):
        name = DEFINED[-1].__name__
        place = place_of(DEFINED[-1], "")
        _end(Mistake(f"serve({name}) as the last line", "none", Place(place.file, place.line, f"class {name}")))


def _end(mistake: Mistake) -> NoReturn:
    Report().fault(" ".join(str(mistake).split()))
    sys.stdout.flush()
    os._exit(FAULTY)
