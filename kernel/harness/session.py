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

from kernel.harness import warden
from kernel.harness.held import HeldBuild, Unguarded
from kernel.harness.meter import Meter
from kernel.harness.report import BuildFailed, Fault, Report
from kernel.runtime.build import BuildError, build
from kernel.runtime.formats import Fp8
from kernel.runtime.library import MACHINES, Config, LaunchError, LibraryError, UnknownConfig, parse_config

FORMATS: dict[str, tuple[Fp8, ...]] = {"e5m2": (Fp8.E5M2,), "e4m3": (Fp8.E4M3FN,), "both": (Fp8.E5M2, Fp8.E4M3FN)}


@dataclass(frozen=True, slots=True)
class Custody:
    """A build in its cell, and who watches over it."""

    build: HeldBuild
    warden: warden.Warden
    meter: Meter


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


def told_report() -> Report:
    """A report bound by what the first line of standard input tells, where somebody reads it."""
    report = Report()
    if not report.for_person:
        with contextlib.suppress(ValueError, AttributeError):
            report.bind(json.loads(sys.stdin.readline()).get("nonce"))
    return report


def config(text: str) -> Config:
    """From "1,8,2,2,8,2"; for argparse."""
    return parse_config(text)


def run(report: Report, target: str, artifact: Path | None, work: Callable[[Custody], int]) -> int:
    """The exit status of `work`, or of what went wrong. An artifact that can't be loaded blames the caller, not the build."""

    def in_custody(path: Path) -> int:
        cell = warden.prepared()
        try:
            cell.confine(target)
            meter = Meter(cell, target)
            return work(Custody(HeldBuild(cell, path, target), cell, meter))
        finally:
            cell.end()

    return _with_artifact(report, target, artifact, in_custody)


def run_unguarded(report: Report, target: str, artifact: Path | None, work: Callable[[HeldBuild], int]) -> int:
    """As `run`, with the build in this process, where a profiler finds it."""
    return _with_artifact(report, target, artifact, lambda path: work(HeldBuild(Unguarded(), path, target)))


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
