"""Talk to a benchmark worker, one process of one side: each request and each answer is one line (docs/HARNESS.md)."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from expctl.adapters.child.contained_process import Child, Gone, HeldOpen, TimedOut, log_tail
from expctl.adapters.child.result_channel import NONCE, Channel, Unexpected, UnknownContract, shown
from expctl.domain.run.step_result import Failed
from expctl.domain.text import one_line
from expctl.domain.verdict.samples import Side

NS_MAX = 1 << 53
CONFIG_MOST = 2000


class StepFailed(Exception):
    """Raised when a step can't go on; `failed` holds the reason."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.reason)
        self.failed = failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """The times of one batch of iterations: `ns` of each iteration; `hidden_ns`, what the whole batch took beyond their sum."""

    ns: tuple[int, ...]
    hidden_ns: int


class Worker:
    """One benchmark process of one side, to which requests are sent; request and answer are one line each. With `takes_turns`
    it stands still between requests, so that nothing of it runs while the other side works. If it
    `forgives`, its results may be wrong at the end.
    """

    def __init__(
        self,
        child: Child,
        side: Side,
        deadline_s: float,
        log: Path,
        *,
        takes_turns: bool = False,
        names: Mapping[str, str] | None = None,
        forgives: bool = False,
    ) -> None:
        self._names = names or {}  # of sizes that this side is asked for under another name
        self.child, self.side, self._deadline_s, self._log = child, side, deadline_s, log
        self._takes_turns, self._forgives = takes_turns, forgives
        self._channel = Channel()
        self.config = ""

    def begin(self, seed: int, sizes: list[str]) -> None:
        """Have the worker make its inputs from `seed` and warm up; keep which config it times in `config`, where it says so.

        Raises StepFailed.
        """
        # By the pipe, because the code under test can read an argv.
        answer = self.ask(
            {"do": "begin", NONCE: self._channel.nonce, "seed": seed, "sizes": [self._names.get(size, size) for size in sizes]},
            "ready",
        )
        facts = answer.get("facts")
        self.config = one_line(str(facts.get("config", "")), CONFIG_MOST) if isinstance(facts, dict) else ""

    def ask(self, request: Mapping[str, Any], wanted: str) -> dict[str, Any]:
        """Send one request and return its answer. Raises StepFailed if it is late, or its `event` is not `wanted`."""
        if self.child.has_unread_lines():
            self._fail("said something that it was not asked")
        if not self.child.go_on():
            self._fail("ran while the other side was timed: something has undone its stop")
        try:
            self.child.send(json.dumps(request))
            for line in self.child.lines(self._deadline_s):
                answer = self._channel.parse(line)
                if answer.get("event") == "end" and (wanted != "end" or not answer.get("ok")):
                    blame = self._blame(answer)
                    if wanted != "end" or blame.fault or not self._forgives:
                        raise StepFailed(blame)
                if answer.get("event") != wanted:
                    raise Unexpected(shown(answer))
                if wanted == "end":
                    self._expect_end()
                elif self._takes_turns and self.child.stop():
                    self._fail("left a process behind, which would go on while the other side is timed")
                return answer
            raise Gone(self.child.fate())
        except TimedOut:
            self._fail("did not answer in time")
        except UnknownContract as error:
            self._fail(str(error))
        except Unexpected as unexpected:
            self._fail(f"said something that it was not asked: {unexpected}")
        except HeldOpen as held:
            self._fail(str(held))
        except Gone as gone:
            self._fail(f"{gone}{log_tail(self._log)}")

    def _expect_end(self) -> None:
        for line in self.child.lines(self._deadline_s):
            raise Unexpected(one_line(line, 60))

    def times(self, size: str, iterations: int) -> Visit:
        """Have the worker time `iterations` runs of the kernel at `size`. Raises StepFailed."""
        # The time of the whole batch is the script's `outside_ns` if it sends one; ours includes the script's own work.
        size = self._names.get(size, size)
        asked_ns = time.monotonic_ns()
        answer = self.ask({"do": "time", "size": size, "iterations": iterations}, "sample")
        elapsed_ns = time.monotonic_ns() - asked_ns
        ns, outside_ns = answer.get("ns"), answer.get("outside_ns", elapsed_ns)
        if not isinstance(ns, list) or len(ns) != iterations or not all(_is_time(each) for each in ns):
            self._fail(f"answered {str(ns)[:80]} where {iterations} positive integers (ns) were asked")
        if answer.get("size", size) != size:
            self._fail(f"answered for {str(answer['size'])[:40]!r} where {size!r} was asked")
        if not _is_time(outside_ns):
            self._fail(f"answered outside_ns {str(outside_ns)[:40]}, expected a positive integer (ns)")
        return Visit(ns=tuple(ns), hidden_ns=outside_ns - sum(ns))

    def _blame(self, answer: Mapping[str, Any]) -> Failed:
        reason = one_line(str(answer.get("reason", "ended without a reason")), 500)
        fault = bool(answer.get("fault")) or self.side is Side.BASELINE
        return Failed(reason=f"{self.side}: {reason}", fault=fault, repeat=answer.get("repeat") is True)

    def _fail(self, reason: str) -> NoReturn:
        raise StepFailed(Failed(reason=f"the worker of the {self.side} {reason}", fault=True))


def _is_time(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < NS_MAX
