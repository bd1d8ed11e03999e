"""Puts one variant after another through the harness: the test step, then the benchmark.

One process does so, with a sandbox for each variant.

Reads requests line by line, {"artifact": ..., "without": [safeguards]}, and answers each with what both steps said.
"""

import contextlib
import fcntl
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(ROOT := Path(__file__).resolve().parents[2]))

from expctl.harness import requests
from expctl.harness.report import Report
from kernel.harness import process_audit, script_session, shapes, test_scaled_mm, timing
from kernel.harness.benchmark_worker import BenchmarkWorker
from kernel.harness.reference import Limits
from kernel.harness.script_session import ScriptSession
from kernel.runtime.formats import Fp8
from tests.cheating import safeguards

KPI = 384
VISITS = 15
FAR = 200  # descriptors that no variant writes to
SHAPES = ((1, 1, 1), (17, 15, 17), (65, 63, 63), (130, 100, 77), (33, 50, 70))
CASES = [
    shapes.Case(fp8=Fp8.E5M2, m=16, n=384, k=16, scale=1.0, bias=False, every_code=True),
    *(shapes.Case(fp8=Fp8.E5M2, m=m, n=n, k=k, scale=0.5, bias=True) for m, n, k in (*SHAPES, (KPI, KPI, KPI))),
]


def said(work: Callable[[Report], int]) -> dict[str, Any]:
    """The first `end` that stands in a step's channel, and the visits it reported."""
    reading, writing = os.pipe()
    os.environ["EXPCTL_RESULT_FD"] = str(writing)
    try:
        work(Report())
    finally:
        del os.environ["EXPCTL_RESULT_FD"]
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as lines:
            events = [json.loads(line) for line in lines]
    visits = [(each["ns"], each["outside_ns"]) for each in events if each["event"] == "sample"]
    return {"end": next((each for each in events if each["event"] == "end"), {}), "visits": visits}


def tested(artifact: Path) -> dict[str, Any]:
    """The test step."""
    return said(
        lambda report: script_session.run(
            report, "cpu", artifact, lambda session: test_scaled_mm.check_all(session, report, CASES, Limits())
        )
    )


def timed(artifact: Path) -> dict[str, Any]:
    """One worker, asked for some visits."""
    lines = [
        {"do": "begin", "seed": 7242, "sizes": [f"n={KPI}"]},
        *({"do": "time", "size": f"n={KPI}", "iterations": 1} for _ in range(VISITS)),
        {"do": "end"},
    ]

    def work(report: Report) -> int:
        def serve(session: ScriptSession) -> int:
            worker = BenchmarkWorker(session, (1, 8, 2, 2, 8, 2), Fp8.E5M2, Limits())
            return requests.answer((json.dumps(line) for line in lines), report, worker)

        return script_session.run(report, "cpu", artifact, serve)

    return said(work)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """What scripts and builds print goes nowhere: standard output is ours."""
    kept, nowhere = [fcntl.fcntl(each, fcntl.F_DUPFD, FAR) for each in (1, 2)], os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    try:
        yield
    finally:
        sys.stdout.flush()
        for descriptor, saved in enumerate(kept, start=1):
            os.dup2(saved, descriptor)
            os.close(saved)
        os.close(nowhere)


def sweep() -> None:
    """End what a variant left behind: it came to us, as it would to the script that loads no other build."""
    for child in process_audit.children(os.getpid()):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def main() -> None:
    """Until the end of input."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    timing.WARM_UP_S = 0.0
    for line in sys.stdin:
        request = json.loads(line)
        artifact = Path(request["artifact"])
        with silence(), safeguards.without(request.get("without", ())):
            answer = {"test": tested(artifact)}
            if answer["test"]["end"].get("ok") is True:
                answer["benchmark"] = timed(artifact)
            sweep()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
