"""Turns a class into a script that keeps docs/HARNESS.md: reads its words and the first request, and ends with one message."""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from expctl.harness import uncaught
from expctl.harness.channel import GuardedReport
from expctl.harness.mistake import Mistake, Place, place_of_text
from expctl.harness.report import BuildFailed, Fault, Report

if TYPE_CHECKING:
    from argparse import Namespace


def serve(kernel: Any) -> None:
    """Test, time or profile a build with the class `kernel`, as asked, and exit. In a file that is imported, do nothing."""
    caller = sys._getframe(1)
    if caller.f_globals.get("__name__") == "__main__":
        uncaught.SERVED.append(kernel)
        sys.exit(run(kernel, Place(os.path.abspath(caller.f_code.co_filename), caller.f_lineno), sys.argv[1:]))


def run(kernel: Any, place: Place, argv: Sequence[str]) -> int:
    """Do what is asked; return the exit status. `place` is the line that called `serve`."""

    def blame_foreign(found: bytes) -> None:
        where = place_of_text(place.file, "EXPCTL_RESULT_FD")
        raise Mistake("nothing but the library to write to EXPCTL_RESULT_FD; print to standard output", repr(found), where)

    faulthandler.enable()  # a build that dies of a signal leaves the line of the call in the log
    report = GuardedReport(blame_foreign)
    try:
        from expctl.harness.words import parse_words

        return _served(kernel, report, parse_words(argv))
    except BuildFailed as error:
        return _ended(report.blame, error)
    except Mistake as mistake:
        mistake.place = mistake.place or place
        return _ended(report.fault, str(mistake))
    except Fault as error:
        return _ended(report.fault, str(error))
    except Exception as error:  # noqa: BLE001  whatever it is, the last message says so
        import traceback

        traceback.print_exc()
        return _ended(report.fault, f"expctl.harness failed: {type(error).__name__}: {error}")


def _ended(end: Callable[[Any], int], reason: str | BuildFailed) -> int:
    line = " ".join(str(reason).split())
    said = type(reason)(line) if isinstance(reason, BuildFailed) else line
    try:
        return end(said)
    except Mistake:  # what a foreign hand wrote meanwhile says less than this reason
        return end(said)


def _served(kernel: Any, report: Report, options: Namespace) -> int:
    first = "" if report.for_person or options.profile else sys.stdin.readline()
    asked = _request(first)
    report.bind(asked.get("nonce"))
    try:
        from expctl.harness import requests, steps
        from expctl.harness.author import Author
        from expctl.harness.class_check import check_class
    except ModuleNotFoundError as error:
        raise Fault(f"expected the package {error.name} for {sys.executable}, found none: install it there") from error
    check_class(kernel)
    author, launches = Author(kernel, options.artifact), max(1, options.launches)
    if asked.get("do") == "test":
        return steps.test(author, report, launches)
    if asked:
        return requests.answer(chain([first], sys.stdin), report, steps.Benchmark(author))
    if options.profile or not report.for_person:
        return steps.profile(author, report, launches)
    sizes = [name for name in options.sizes.split(",") if name]
    return steps.print_table(author, report, sizes, max(1, options.iterations), options.seed)


def _request(line: str) -> dict[str, Any]:
    if not line.strip():
        return {}
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not found:
        raise Fault(f"a request is one JSON object per line, found {line.strip()[:200]}")
    return found
