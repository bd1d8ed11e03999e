"""Sends a script's messages (docs/HARNESS.md) as JSON to the result descriptor, and prints readable lines."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

RESULT_FD = "EXPCTL_RESULT_FD"
Value = str | int | float | bool
CONTRACT = 1
"""Version of docs/HARNESS.md that these scripts keep; their first message says so."""
PASSED, BLAMED, FAULTY = 0, 1, 2
"""Exit statuses: the build is fine, the build failed, the script or machine failed."""


class Fault(Exception):
    """The script or the machine failed: no device, a missing package. It says nothing about the build."""


class BuildFailed(Exception):
    """The build under test did something wrong. `repeat`: a disturbed machine can look the same, so it counts if it recurs."""

    repeat = False


class Report:
    """Writes one message for each method called, to `descriptor` or EXPCTL_RESULT_FD. The last is `end`, `blame` or `fault`."""

    def __init__(self, descriptor: str | None = None) -> None:
        descriptor = descriptor or os.environ.get(RESULT_FD)
        self._stream: TextIO | None = None
        self._bound: dict[str, str] = {}
        self._contract: dict[str, int] = {"contract": CONTRACT}
        if descriptor:
            try:
                self._stream = os.fdopen(int(descriptor), "w", encoding="utf-8", closefd=False)
            except (ValueError, OSError) as error:
                sys.exit(f"{RESULT_FD} is {descriptor!r}, expected an open descriptor: {error}")

    @property
    def for_person(self) -> bool:
        """Whether a person runs the script: there is no descriptor to write to."""
        return self._stream is None

    def bind(self, nonce: object) -> None:
        """Repeat `nonce` in every message from now on; anything but a string is ignored."""
        self._bound = {"nonce": nonce} if isinstance(nonce, str) else {}

    def event(self, event: str, /, **fields: object) -> None:
        """Write one JSON object to the descriptor; do nothing without one."""
        if self._stream is not None:
            message = {"event": event, **self._contract, **self._bound, **fields}
            self._stream.write(json.dumps(message, allow_nan=False) + "\n")
            self._stream.flush()
            self._contract = {}

    def say(self, line: str) -> None:
        """Print a line, for a person or the log."""
        print(line, flush=True)

    def case(self, name: str, ok: bool, facts: Mapping[str, Value]) -> None:
        """Say how one case of a test went. Figures that are not finite are left out."""
        facts = {key: value for key, value in facts.items() if not isinstance(value, float) or math.isfinite(value)}
        self.event("case", name=name, ok=ok, facts=facts)
        self.say(f"{'ok  ' if ok else 'FAIL'} {name:58s} " + " ".join(f"{k}={_short(v)}" for k, v in facts.items()))

    def fact(self, name: str, value: int | float, unit: str, kind: str) -> None:
        """Say one figure of a profile; `kind` is exact_count, static, device_time or wall_time."""
        self.event("fact", name=name, value=value, unit=unit, kind=kind)
        self.say(f"{name:52s} {_short(value):>14s} {unit:14s} {kind}")

    def ready(self, facts: Mapping[str, Value]) -> None:
        """Say that the worker has warmed up."""
        self.event("ready", facts=dict(facts))

    def sample(self, size: str, durations_ns: Sequence[int], outside_ns: int | None = None) -> None:
        """Say the ns of each iteration, in order, and of all together where seen from outside of the build's process."""
        seen = {} if outside_ns is None else {"outside_ns": outside_ns}
        self.event("sample", size=size, ns=list(durations_ns), **seen)

    def checked(self) -> None:
        """Say that all outputs since the last check were right."""
        self.event("checked")

    def judge(self, failures: Sequence[str]) -> int:
        """Say how a test with these failures ended: passed, or the first of them; return the exit status."""
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        return self.blame(failures[0] + more) if failures else self.end()

    def end(self) -> int:
        """Say that the build passed; return the exit status."""
        self.event("end", ok=True)
        return PASSED

    def blame(self, reason: str | BuildFailed) -> int:
        """Say that the build failed; return the exit status."""
        if isinstance(reason, BuildFailed) and reason.repeat:
            self.event("end", ok=False, reason=str(reason), repeat=True)
        else:
            self.event("end", ok=False, reason=str(reason))
        print(f"failed: {reason}", file=sys.stderr, flush=True)
        return BLAMED

    def fault(self, reason: str) -> int:
        """Say that the script or the machine failed; return the exit status."""
        self.event("end", ok=False, fault=True, reason=reason)
        print(f"fault: {reason}", file=sys.stderr, flush=True)
        return FAULTY


def _short(value: Value) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
