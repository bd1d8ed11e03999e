"""What the three scripts share: their common arguments, the library they were given, and the one boundary for errors."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from kernel.harness.build import BuildError, build
from kernel.harness.formats import Fp8
from kernel.harness.library import (
    MACHINES,
    Config,
    LaunchError,
    Library,
    LibraryError,
    UnknownConfig,
    open_library,
    parse_config,
)
from kernel.harness.report import BuildFailed, Fault, Report

FORMATS: dict[str, tuple[Fp8, ...]] = {"e5m2": (Fp8.E5M2,), "e4m3": (Fp8.E4M3FN,), "both": (Fp8.E5M2, Fp8.E4M3FN)}


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


def config(text: str) -> Config:
    """From "1,8,2,2,8,2"; for argparse."""
    return parse_config(text)


def run(report: Report, target: str, artifact: Path | None, work: Callable[[Library], int]) -> int:
    """The exit status of `work`, or of what went wrong. An artifact that can't be loaded blames the caller, not the build."""
    try:
        if artifact is not None:
            return work(open_library(artifact, target))
        with tempfile.TemporaryDirectory(prefix="scaled_mm.") as folder:
            report.say(f"building this checkout for {target}")
            return work(open_library(build(target, Path(folder)), target))
    except (BuildFailed, LaunchError) as error:
        return report.blame(str(error))
    except (Fault, LibraryError, BuildError, UnknownConfig) as error:
        return report.fault(str(error))
