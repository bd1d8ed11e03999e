"""Runs the author's own tests (pytest) on a build in Python, each as one case of the test."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from expctl.harness.author import Author
from expctl.harness.libraries import package
from expctl.harness.mistake import Mistake, place_of
from expctl.harness.report import Report

RAN, FAILED = 0, 1
"""Exit statuses of pytest: all tests passed, some failed."""


class Outcomes:
    """A plug-in of pytest that says each test as a case; `failures` has a line for each that failed."""

    def __init__(self, report: Report) -> None:
        self._report, self.failures = report, list[str]()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take what pytest says of one phase of one test."""
        if report.when == "call" or report.failed:
            why = _cause(report) if report.failed else ""
            self._report.case(report.nodeid, not report.failed, {"failure": why} if why else {})
            self.failures += [f"{report.nodeid}: {why}"] if why else []


def failures_of_own_tests(author: Author, report: Report) -> list[str]:
    """Run the tests that the class names in `pytest`, with the build in the place of the module `module`; return the failures.

    Raises Mistake where pytest finds none, Fault without pytest.
    """
    kernel = author.kernel_class
    if not kernel.pytest:
        return []
    if not kernel.module:
        raise Mistake(
            'module = "package.name", which the tests import and the build replaces', "none", place_of(kernel, "pytest")
        )
    _put_in_place(kernel.module, author.build)
    outcomes = Outcomes(report)
    status = int(package("pytest").main(["-q", "-p", "no:cacheprovider", *kernel.pytest], plugins=[outcomes]))
    if status not in (RAN, FAILED):
        found = f"pytest ended with status {status} ({', '.join(kernel.pytest)})"
        raise Mistake("tests that pytest can collect and run", found, place_of(kernel, "pytest"))
    return outcomes.failures


def _cause(report: Any) -> str:
    """Return why a test failed, in a line: where the exception was raised, and its text."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None:
        return "".join(str(report.longrepr).strip().splitlines()[-1:])
    return f"{os.path.relpath(crash.path)}:{crash.lineno}: {crash.message.splitlines()[0]}"


def _put_in_place(name: str, module: Any) -> None:
    """Let `import name` give `module`, also to its parent package, which is imported from the working directory or its src.
    Where the package has something else of that name, say the function of the same name, that stays: it is the build's by then.
    """
    sys.path[:0] = [folder for folder in (os.getcwd(), os.path.join(os.getcwd(), "src")) if os.path.isdir(folder)]
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        package_of_it = import_module(parent)
        if isinstance(getattr(package_of_it, last, module), ModuleType):
            setattr(package_of_it, last, module)
