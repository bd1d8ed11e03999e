"""Runs a kernel class as docs/HARNESS.md asks: with guard metrics in its test, and a trace in its profile."""

import json
import os
import sys
from pathlib import Path

from expctl.harness import BuildFailed, Fault, uncaught
from expctl.harness.author import Author
from expctl.harness.report import Report
from expctl.harness.steps import test

DRAWS = 2


def take_trace():
    """Take `--trace FILE` out of the words of this script, and return the file; "" without one."""
    if "--trace" not in sys.argv:
        return ""
    at = sys.argv.index("--trace")
    file = sys.argv[at + 1]
    del sys.argv[at : at + 2]
    return file


def run_test(kernel):
    """Test the build and report its metrics as a case of their own; return the exit status. For `--test`."""
    uncaught.SERVED.append(kernel)  # as `serve` says, so that the library doesn't miss that call
    if kernel.where == "cpu":  # for a GPU torch would start processes
        compile_on_all_cores()
    report = Report()
    request = {} if report.for_person else json.loads(sys.stdin.readline())
    report.bind(request.get("nonce"))
    try:
        author = Author(kernel, Path(sys.argv[1]))
        with_metrics = WithMetrics(report, author)
        return test(author, with_metrics, DRAWS)
    except BuildFailed as error:
        return report.blame(str(error))
    except Fault as error:
        return report.fault(str(error))


def compile_on_all_cores():
    """Have torch's compiler use every core, where nothing is timed. What it keeps is the same as on one."""
    from torch._inductor import config  # here, since workers, which must not wait for it, import this file too

    config.compile_threads = len(os.sched_getaffinity(0))


class WithMetrics:
    """A report that says the metrics of a build which has passed, before it ends."""

    def __init__(self, report, author):
        self.case, self._report, self._author = report.case, report, author

    def judge(self, failures):
        if not failures:
            with self._author.calling():
                metrics = self._author.kernel.metrics(self._author.build)
            self.case("metrics", True, metrics)
        return self._report.judge(failures)
