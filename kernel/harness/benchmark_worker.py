"""Answers the requests of a benchmark (docs/HARNESS.md): one line in, one line out, and no work in between."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kernel.harness import script_session
from kernel.harness.reference import Limits
from kernel.harness.report import Fault, Report
from kernel.harness.script_session import ScriptSession
from kernel.harness.timing import TimedSize
from kernel.runtime.formats import Fp8
from kernel.runtime.library import format_config

MOST_ITERATIONS = 10_000


class BenchmarkWorker:
    """Answers the requests of one benchmark run: one `begin`, any number of `time` and `check`, one `end`."""

    def __init__(self, session: ScriptSession, config: int, fp8: Fp8, report: Report, limits: Limits) -> None:
        self._session, self._config, self._fp8 = session, config, fp8
        self._report, self._limits = report, limits
        self._sizes: dict[str, TimedSize] = {}

    def serve(self, lines: Iterable[str]) -> int:
        """Answer one request per line until `end` or the end of input; return the exit status.

        Raises Fault for a request that is not in docs/HARNESS.md, BuildFailed for a wrong output.
        """
        for line in lines:
            if not line.strip():
                continue
            request = _parse(line)
            match request.get("do"):
                case "begin":
                    self._report.bind(request.get("nonce"))
                    self._begin(_integer(request, "seed", 0), _texts(request, "sizes"))
                case "time":
                    size = request.get("size")
                    if size not in self._sizes:
                        raise Fault(f"request for size {size!r}, expected one of {sorted(self._sizes)} from `begin`")
                    iterations = _integer(request, "iterations", 1)
                    if iterations > MOST_ITERATIONS:
                        raise Fault(f"{iterations} iterations asked for, at most {MOST_ITERATIONS} are timed at once")
                    timed = self._sizes[size].time(iterations)
                    self._report.sample(size, timed.ns, timed.outside_ns)
                case "check":
                    self._check()
                    self._report.checked()
                case "end":
                    break
                case other:
                    raise Fault(f"request {other!r}, expected begin, time, check or end: {line.strip()[:200]}")
        return self._end()

    def _begin(self, seed: int, names: list[str]) -> None:
        if self._sizes:
            raise Fault("a second `begin`; a worker draws its inputs once")
        try:
            extents = {name: script_session.size_of(name) for name in names}
        except ValueError as error:
            raise Fault(f"a size is written n=768: {error}") from error
        for name, n in extents.items():
            self._sizes[name] = TimedSize(self._session, self._config, self._fp8, n, seed)
        for size in self._sizes.values():
            size.warm_up()
        build = self._session.build
        facts: dict[str, str | int | float | bool] = {
            "target": build.target,
            "config": format_config(build.configs[self._config]),
            "b_dtype": self._fp8.label,
            "sandbox": self._session.supervisor.confinement,
            **build.device,
        }
        self._report.ready(facts)
        self._session.outside_clock.start()

    def _check(self) -> None:
        for size in self._sizes.values():
            size.check(self._limits)
        self._session.supervisor.audit_process()

    def _end(self) -> int:
        self._check()
        for size in self._sizes.values():
            size.release()
        return self._report.end()


def _parse(line: str) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except json.JSONDecodeError as error:
        raise Fault(f"a request is one JSON object per line: {error}: {line.strip()[:200]}") from error
    if not isinstance(request, dict):
        raise Fault(f"a request is a JSON object, found {line.strip()[:200]}")
    return request


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
