"""Common arguments of the scripts, the build that they were given, and the one place that turns errors into exit statuses."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from expctl.harness.report import BuildFailed, Fault, Report
from expctl.tables.table import BadTable
from kernel.harness import supervisor
from kernel.harness.build_proxy import BuildProxy, InProcessHost
from kernel.harness.outside_clock import OutsideClock
from kernel.harness.shapes import Extents
from kernel.harness.tuned_configs import tuned_config
from kernel.runtime.build import BuildError, build
from kernel.runtime.formats import Fp8
from kernel.runtime.library import MACHINES, WINNER, Config, LaunchError, LibraryError, UnknownConfig, parse_config
from kernel.runtime.tables import Chosen, choose

FORMATS: dict[str, tuple[Fp8, ...]] = {"e5m2": (Fp8.E5M2,), "e4m3": (Fp8.E4M3FN,), "both": (Fp8.E5M2, Fp8.E4M3FN)}


@dataclass(frozen=True, slots=True)
class ScriptSession:
    """What a script works with: the build in its sandbox, the supervisor of that process, and the outside clock."""

    build: BuildProxy
    supervisor: supervisor.Supervisor
    outside_clock: OutsideClock


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with `--target` and `--artifact`, which the test, benchmark and profile scripts share."""
    arguments = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--target", choices=sorted(MACHINES), default="cpu")
    arguments.add_argument("--artifact", type=Path, help="the build to use; without it, this checkout is built")
    return arguments


def sizes(text: str) -> tuple[Extents, ...]:
    """Parse "768,384", "n=768,n=384" or "16x8192x8192,n=4096"; raises ValueError."""
    return tuple(Extents.parse(word) for word in text.split(","))


def bound_report() -> Report:
    """Return a Report that repeats the nonce from the first line of standard input. A person's input is not read."""
    report = Report()
    if not report.for_person:
        with contextlib.suppress(ValueError, AttributeError):
            report.bind(json.loads(sys.stdin.readline()).get("nonce"))
    return report


def config(text: str) -> Config:
    """Parse a config of the kernel, six numbers such as "1,8,2,2,8,2"; raises ValueError."""
    return parse_config(text)


Asked = Config | Literal["auto", "tuned"]
"""A config; or for each shape that of the target's tables, where it has some, else the build's choice (auto); or that of the
list of tuned configs (tuned), and as with auto for a shape that the list lacks.
"""

KPI_CONFIGS: dict[str, Asked] = {"cpu": WINNER, "gfx1151": "tuned", "sm_90": "auto"}
"""What each target is timed with, where neither --config nor HIP_FORCE_CONFIG says otherwise."""


def asked_config(text: str) -> Asked:
    """Parse a config, or "auto" or "tuned"; raises ValueError."""
    words: dict[str, Asked] = {"auto": "auto", "tuned": "tuned"}
    return words[text] if text in words else parse_config(text)


def frozen_config(build: BuildProxy, asked: Asked | None) -> Asked:
    """Return what the whole run uses: `asked`, else HIP_FORCE_CONFIG, else what is usual. Raises UnknownConfig."""
    if asked is None and os.environ.get("HIP_FORCE_CONFIG"):
        return build.configs[build.config_for(1, 1)]
    chosen = asked or KPI_CONFIGS[build.target]
    config_for(build, chosen, Extents.cube(1))
    return chosen


def config_for(build: BuildProxy, asked: Asked, extents: Extents) -> int:
    """Return the number of the config to use for a product. Raises UnknownConfig, Fault for a bad table."""
    return chosen_for(build, asked, extents).config


def chosen_for(build: BuildProxy, asked: Asked, extents: Extents) -> Chosen:
    """Return the config to use for a product, and the place of a table that says so. Raises UnknownConfig, Fault."""
    chosen = tuned_config(build.target, extents) if asked == "tuned" else None if asked == "auto" else asked
    if chosen is not None:
        return Chosen(build.index_of(chosen), "")
    try:
        return choose(build, *extents)
    except BadTable as error:
        raise Fault(str(error)) from error


def run(report: Report, target: str, artifact: Path | None, work: Callable[[ScriptSession], int]) -> int:
    """Run `work` on the build in a sandbox; return the exit status. A build that can't be loaded is the caller's fault."""

    def supervised(path: Path) -> int:
        worker = supervisor.prepared()
        try:
            worker.confine(target)
            outside_clock = OutsideClock(worker, target)
            return work(ScriptSession(BuildProxy(worker, path, target), worker, outside_clock))
        finally:
            worker.end()

    return with_artifact(report, target, artifact, supervised)


def run_in_process(report: Report, target: str, artifact: Path | None, work: Callable[[BuildProxy], int]) -> int:
    """Run `work` on the build loaded in this process, where a profiler finds it; return the exit status."""
    return with_artifact(report, target, artifact, lambda path: work(in_process(path, target)))


def in_process(artifact: Path, target: str) -> BuildProxy:
    """Load a build into this process. Raises LibraryError if it isn't one of this interface."""
    return BuildProxy(InProcessHost(), artifact, target)


def with_artifact(report: Report, target: str, artifact: Path | None, work: Callable[[Path], int]) -> int:
    """Run `work` on the file of a build, which is made of this checkout if there is none; return the exit status."""
    try:
        if artifact is not None:
            return work(artifact)
        with tempfile.TemporaryDirectory(prefix="scaled_mm.") as folder:
            report.say(f"building this checkout for {target}")
            return work(build(target, Path(folder)))
    except (BuildFailed, LaunchError) as error:
        return report.blame(error if isinstance(error, BuildFailed) else str(error))
    except (Fault, LibraryError, BuildError, UnknownConfig) as error:
        return report.fault(str(error))
