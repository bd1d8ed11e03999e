"""A benchmark worker: one process of one side, asked line by line (docs/HARNESS.md)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from expctl.adapters.child import Child, Gone, TimedOut, log_tail
from expctl.domain.measurement import Side
from expctl.domain.ports import Failed
from expctl.domain.text import one_line


class StepFailed(Exception):
    """A step ended early; carries the Failed that explains it."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.reason)
        self.failed = failed


class Worker:
    """One benchmark process of one side, spoken to line by line.

    One that takes turns is stopped while it is not asked: no thread of one side then runs beside the other's work.
    """

    def __init__(self, child: Child, side: Side, deadline_s: float, log: Path, *, takes_turns: bool = False) -> None:
        self.child, self.side, self._deadline_s, self._log = child, side, deadline_s, log
        self._takes_turns = takes_turns

    def ask(self, request: Mapping[str, Any], wanted: str) -> dict[str, Any]:
        """Send one request and return its answer. Raises StepFailed when another answer or none comes."""
        self.child.go_on()
        try:
            self.child.send(json.dumps(request))
            for line in self.child.lines(self._deadline_s):
                answer = parse_line(line)
                if answer.get("event") == "end" and (wanted != "end" or not answer.get("ok")):
                    raise StepFailed(self._blame(answer))
                if answer.get("event") == wanted:
                    if self._takes_turns and wanted != "end":
                        self.child.stop()
                    return answer
            raise Gone(self.child.fate())
        except TimedOut:
            self._fail("did not answer in time")
        except Gone as gone:
            self._fail(f"{gone}{log_tail(self._log)}")

    def times(self, size: str, iterations: int) -> list[int]:
        """Time `iterations` at `size`, in ns."""
        answer = self.ask({"do": "time", "size": size, "iterations": iterations}, "sample")
        ns = answer.get("ns")
        if (
            not isinstance(ns, list)
            or len(ns) != iterations
            or not all(isinstance(n, int) and not isinstance(n, bool) and 0 < n < 1 << 53 for n in ns)
        ):
            self._fail(f"answered {str(ns)[:80]} where {iterations} positive integers (ns) were asked")
        return ns

    def _blame(self, answer: Mapping[str, Any]) -> Failed:
        reason = one_line(str(answer.get("reason", "ended without a reason")), 500)
        fault = bool(answer.get("fault")) or self.side is Side.BASELINE
        return Failed(reason=f"{self.side}: {reason}", fault=fault)

    def _fail(self, reason: str) -> NoReturn:
        raise StepFailed(Failed(reason=f"the worker of the {self.side} {reason}", fault=True))


def parse_line(line: str) -> dict[str, Any]:
    """One line of a script's answers; what is no JSON object is noise."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"event": "noise"}
