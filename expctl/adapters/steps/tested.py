"""What a test step has shown: the figures of its cases, and how it ended."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from expctl.adapters.child.contained_process import Child, TimedOut
from expctl.domain.protocol.step import MetricLimits
from expctl.domain.run.step_result import Failed, TestReport
from expctl.domain.text import one_line


def note_figures(seen: dict[str, list[float]], facts: object) -> None:
    """Add the figures of a case to those of the cases before."""
    if isinstance(facts, dict):
        for name, value in facts.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                seen.setdefault(one_line(str(name), 40), []).append(float(value))


def test_end(
    said: Mapping[str, Any], cases: int, failed: int, seen: Mapping[str, Sequence[float]], limits: MetricLimits | None
) -> TestReport | Failed:
    """Return what a test step has shown that ends with the message `said`, after so many `cases` with the figures `seen`."""
    if said.get("ok") is True and failed:
        return Failed(reason=f"the test ended as passed although {failed} of {cases} cases failed", fault=True)
    if said.get("ok") is True and cases and limits is not None and (broken := "; ".join(limits.broken(seen))):
        return Failed(reason=f"the test passed, but {broken}")
    if said.get("ok") is True and cases:
        facts = ", ".join(f"{name} {max(values):.4g}" for name, values in seen.items())
        summary = f"{cases} case{' passes' if cases == 1 else 's pass'}"
        figures = {name: tuple(values) for name, values in seen.items()}
        return TestReport(cases=cases, summary=f"{summary}, worst {facts}" if facts else summary, seen=figures)
    if said.get("ok") is True:
        return Failed(reason="the test ended without having tried a case", fault=True)
    return Failed(reason=one_line(str(said.get("reason", "no reason given")), 500), fault=bool(said.get("fault")))


def held_open(child: Child, waited_s: float) -> str:
    """Return what is wrong where the result channel was still open so long after the last message."""
    try:
        child.wait(time.monotonic())
    except TimedOut:
        return f"the test sent `end` and did not exit within {waited_s:g} s"
    return f"the test ended, but something that it started kept the result channel open for {waited_s:g} s"
