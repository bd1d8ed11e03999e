"""The three steps of docs/HARNESS.md, and the table for a person."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence

import numpy as np

from expctl.harness.author import Author
from expctl.harness.own_tests import failures_of_own_tests
from expctl.harness.report import BuildFailed, Report, Value
from expctl.harness.requests import TimedRequest
from expctl.harness.timed_size import TimedSize

TEST_SEED = 20260218


def test(author: Author, report: Report, launches: int) -> int:
    """Test every size with `launches` draws; return the exit status."""
    failures: list[str] = []
    for name in author.sizes:
        facts, failure = _case(author, name, launches)
        report.case(name, not failure, {**facts, "failure": failure} if failure else facts)
        failures += [f"{name}: {failure}"] if failure else []
    return report.judge(failures + failures_of_own_tests(author, report))


def _case(author: Author, name: str, launches: int) -> tuple[dict[str, Value], str]:
    try:
        size = TimedSize(author, name, TEST_SEED)
        judged = [size.test(number) for number in range(launches)]
    except BuildFailed as error:
        return {}, str(error)
    errors = {"rel_l2": max(each.rel_l2 for each in judged), "max_abs": max(each.max_abs for each in judged)}
    return {**errors, "launches": launches}, next((each.failure for each in judged if each.failure), "")


class Benchmark:
    """The worker of a benchmark; see expctl.harness.requests.Worker."""

    def __init__(self, author: Author) -> None:
        self._author = author
        self._timed: dict[str, TimedSize] = {}

    def begin(self, seed: int, sizes: Sequence[str]) -> Mapping[str, Value]:  # noqa: D102 - see Worker
        for name in sizes:
            self._timed[name] = timed_size(self._author, name, seed)
        for each in self._timed.values():
            each.warm_up()
        kinds = {each.clock.kind for each in self._timed.values()}
        return {
            "times": ", ".join(sorted(kinds)),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "sandbox": "none",
        }

    def time(self, size: str, iterations: int) -> TimedRequest:  # noqa: D102 - see Worker
        return self._timed[size].time(iterations)

    def check(self) -> None:  # noqa: D102 - see Worker
        for each in self._timed.values():
            each.check()

    def release(self) -> None:  # noqa: D102 - see Worker
        self._timed.clear()


def timed_size(author: Author, name: str, seed: int) -> TimedSize:
    """Return the size called `name`. Raises Mistake for a name that the class lacks."""
    if name not in author.kernel_class.sizes:
        known = ", ".join(map(repr, author.kernel_class.sizes))
        raise author.mistake("sizes", f"the size {name!r} that was asked for, as protocol.yaml writes it", known)
    return TimedSize(author, name, seed)


def profile(author: Author, report: Report, launches: int) -> int:
    """Call every size `launches` times for a profiler that runs this process, after a first call that may compile and is left
    out of the median, and report figures; return the exit status.
    """
    for name in author.kernel_class.sizes:
        size = timed_size(author, name, TEST_SEED)
        ns = size.time(1 + launches).ns[1:]
        report.fact(f"launches {name}", 1 + launches, "launches", "exact_count")
        report.fact(f"median time {name}", round(float(np.median(ns))), "ns", size.clock.kind)
    report.fact("artifact size", author.artifact.stat().st_size, "bytes", "static")
    for fact in author.facts():
        report.fact(*fact)
    return report.end()


def print_table(author: Author, report: Report, sizes: Sequence[str], iterations: int, seed: int) -> int:
    """Test all sizes, time `sizes`, and print a table; return the exit status."""
    status = test(author, report, 1)
    if status:
        return status
    report.say(f"\n{'':32s} {'median us':>12s} {'p95 us':>12s} {'p99 us':>12s} {'std %':>7s}  {iterations} iterations")
    for name in sizes or list(author.kernel_class.sizes):
        size = timed_size(author, name, seed)
        size.warm_up()
        ns = np.array(size.time(iterations).ns)
        size.check()
        median, p95, p99 = (float(each) / 1e3 for each in np.quantile(ns, [0.5, 0.95, 0.99]))
        report.say(
            f"{name:32s} {median:12.2f} {p95:12.2f} {p99:12.2f} {100 * float(np.std(ns) / np.mean(ns)):7.2f}  {size.clock.kind}"
        )
    return report.end()
