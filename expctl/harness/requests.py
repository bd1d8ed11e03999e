"""Answers the requests of a benchmark (docs/HARNESS.md): one line in, one line out, and no work in between."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from expctl.harness.report import Fault, Report, Value

MOST_ITERATIONS = 10_000


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """Times in ns of one `time` request: each call by its own clock, and all together where seen from outside."""

    ns: tuple[int, ...]
    outside_ns: int | None = None


class Worker(Protocol):
    """Times one build. Each method raises BuildFailed for a wrong output, Fault for what the build can't help."""

    def begin(self, seed: int, sizes: Sequence[str]) -> Mapping[str, Value]:
        """Draw from `seed`, warm up all `sizes`, and return facts for people."""

    def time(self, size: str, iterations: int) -> TimedRequest:
        """Time `iterations` calls of one of the sizes."""

    def check(self) -> None:
        """Check the outputs since the last check."""

    def release(self) -> None:
        """Give back what `begin` took."""


def answer(lines: Iterable[str], report: Report, worker: Worker) -> int:
    """Answer one request per line until `end` or the end of input; return the exit status.

    Raises Fault for a request that is not in docs/HARNESS.md, and what `worker` raises.
    """
    sizes: list[str] = []
    for line in lines:
        if not line.strip():
            continue
        request = parse(line)
        match request.get("do"):
            case "begin":
                report.bind(request.get("nonce"))
                seed, named = _integer(request, "seed", 0), _texts(request, "sizes")
                if sizes:
                    raise Fault("a second `begin`; a worker draws its inputs once")
                report.ready(worker.begin(seed, named))
                sizes = named
            case "time":
                size, iterations = _asked(request, sizes)
                timed = worker.time(size, iterations)
                report.sample(size, timed.ns, timed.outside_ns)
            case "check":
                worker.check()
                report.checked()
            case "end":
                break
            case other:
                raise Fault(f"request {other!r}, expected begin, time, check or end: {line.strip()[:200]}")
    worker.check()
    worker.release()
    return report.end()


def parse(line: str) -> dict[str, Any]:
    """Return the JSON object in `line`. Raises Fault."""
    try:
        request = json.loads(line)
    except json.JSONDecodeError as error:
        raise Fault(f"a request is one JSON object per line: {error}: {line.strip()[:200]}") from error
    if not isinstance(request, dict):
        raise Fault(f"a request is a JSON object, found {line.strip()[:200]}")
    return request


def _asked(request: dict[str, Any], sizes: Sequence[str]) -> tuple[str, int]:
    size = request.get("size")
    if not isinstance(size, str) or size not in sizes:
        raise Fault(f"request for size {size!r}, expected one of {sorted(sizes)} from `begin`")
    iterations = _integer(request, "iterations", 1)
    if iterations > MOST_ITERATIONS:
        raise Fault(f"{iterations} iterations asked for, at most {MOST_ITERATIONS} are timed at once")
    return size, iterations


def _integer(request: dict[str, Any], key: str, least: int) -> int:
    value = request.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise Fault(f"{request.get('do')}: {key} is {value!r}, expected an integer of at least {least}")
    return value


def _texts(request: dict[str, Any], key: str) -> list[str]:
    value = request.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(x, str) for x in value):
        raise Fault(f"{request.get('do')}: {key} is {value!r}, expected a list of names")
    return value
