"""What the scripts share: their common arguments, the build they were given, and the one boundary for errors."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kernel.harness import supervisor
from kernel.harness.build_proxy import BuildProxy, InProcessHost
from kernel.harness.clock_check import OutsideClock
from kernel.harness.report import BuildFailed, Fault, Report
from kernel.runtime.build import BuildError, build
from kernel.runtime.formats import Fp8
from kernel.runtime.library import MACHINES, Config, LaunchError, LibraryError, UnknownConfig, parse_config

FORMATS: dict[str, tuple[Fp8, ...]] = {"e5m2": (Fp8.E5M2,), "e4m3": (Fp8.E4M3FN,), "both": (Fp8.E5M2, Fp8.E4M3FN)}


@dataclass(frozen=True, slots=True)
class ScriptSession:
    """A build in its cell, and who watches over it."""

    build: BuildProxy
    supervisor: supervisor.Supervisor
    outside_clock: OutsideClock


def parser(description: str | None) -> argparse.ArgumentParser:
    """The arguments that all three scripts take."""
    arguments = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--target", choices=sorted(MACHINES), default="cpu")
    arguments.add_argument("--artifact", type=Path, help="the build to use; without it, this checkout is built")
    return arguments


def sizes(text: str) -> tuple[int, ...]:
    """From "768,384" or "n=768,n=384"; for argparse."""
    return tuple(size_of(word) for word in text.split(","))


def size_of(name: str) -> int:
    """N of "n=768"; raises ValueError."""
    n = int(name.strip().removeprefix("n="))
    if n < 1:
        raise ValueError(f"a size is at least 1, found {name!r}")
    return n


def bound_report() -> Report:
    """A report bound by what the first line of standard input tells, where somebody reads it."""
    report = Report()
    if not report.for_person:
        with contextlib.suppress(ValueError, AttributeError):
            report.bind(json.loads(sys.stdin.readline()).get("nonce"))
    return report


def config(text: str) -> Config:
    """From "1,8,2,2,8,2"; for argparse."""
    return parse_config(text)


def run(report: Report, target: str, artifact: Path | None, work: Callable[[ScriptSession], int]) -> int:
    """The exit status of `work`, or of what went wrong. An artifact that can't be loaded blames the caller, not the build."""

    def supervised(path: Path) -> int:
        worker = supervisor.prepared()
        try:
            worker.confine(target)
            outside_clock = OutsideClock(worker, target)
            return work(ScriptSession(BuildProxy(worker, path, target), worker, outside_clock))
        finally:
            worker.end()

    return _with_artifact(report, target, artifact, supervised)


def run_in_process(report: Report, target: str, artifact: Path | None, work: Callable[[BuildProxy], int]) -> int:
    """As `run`, with the build in this process, where a profiler finds it."""
    return _with_artifact(report, target, artifact, lambda path: work(BuildProxy(InProcessHost(), path, target)))


def _with_artifact(report: Report, target: str, artifact: Path | None, work: Callable[[Path], int]) -> int:
    try:
        if artifact is not None:
            return work(artifact)
        with tempfile.TemporaryDirectory(prefix="scaled_mm.") as folder:
            report.say(f"building this checkout for {target}")
            return work(build(target, Path(folder)))
    except (BuildFailed, LaunchError) as error:
        return report.blame(str(error))
    except (Fault, LibraryError, BuildError, UnknownConfig) as error:
        return report.fault(str(error))
