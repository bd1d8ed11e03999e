"""Interfaces for building and measuring: toolchains, harness scripts, profiles, gate, calibrations, clock, progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING
from typing import Protocol as Port

from msgspec import Struct

from expctl.domain.run.step_result import Available, Failed, TestReport, Unavailable

if TYPE_CHECKING:
    from pathlib import Path

    from expctl.domain.experiment.control_result import ControlResult
    from expctl.domain.experiment.record import Artifact, Fact
    from expctl.domain.experiment.rivals import RivalReport
    from expctl.domain.machine.burn_in import BurnIn
    from expctl.domain.machine.first_run import FirstRun
    from expctl.domain.machine.waiting import Wait
    from expctl.domain.protocol.model import Benchmark, Target
    from expctl.domain.protocol.model import Build as BuildSpec
    from expctl.domain.protocol.step import LimitedStep, Step
    from expctl.domain.rules.meaning import View
    from expctl.domain.verdict.calibration import Calibration
    from expctl.domain.verdict.outlook import Outlook
    from expctl.domain.verdict.samples import Sample, Side


class Toolchains(Port):
    """Builds the kernel for the targets of protocol.yaml, and returns the paths of cached builds."""

    def availability(self, name: str, target: Target) -> Available | Unavailable: ...
    def build(
        self, name: str, target: Target, *, tree: Path, sources: str, like: Artifact | None = None
    ) -> Artifact | Failed: ...
    def path(self, target: Target, artifact: Artifact) -> Path | None: ...
    def layouts(self, target: Target, artifact: Artifact) -> tuple[Path, ...] | None: ...


class Steps(Port):
    """Runs the harness scripts (test, benchmark, profile) as confined child processes in a worktree of the baseline."""

    def test(self, step: LimitedStep, *, cwd: Path, artifact: Path, progress: Progress) -> TestReport | Failed: ...
    def measure(
        self,
        benchmark: Benchmark,
        *,
        cwd: Path,
        artifacts: Mapping[Side, Sequence[Path]],
        round: int,
        progress: Progress,
        forgives: bool = False,
    ) -> tuple[Sample, ...] | Failed: ...
    def burn_in(self, benchmark: Benchmark, *, cwd: Path, artifact: Path, progress: Progress) -> BurnIn: ...
    def take_first_runs(self) -> tuple[FirstRun, ...]: ...
    def close(self) -> None: ...
    def profile(
        self, step: Step, *, cwd: Path, tree: Path, artifact: Path, out: Path, progress: Progress
    ) -> tuple[Fact, ...] | Failed: ...


class SuiteCommands(Port):
    """Runs the benchmarks of a suite in one environment, as confined children that find the folder `out` empty; `{times}` is
    the file `times` in it. Raises Busy if other programs disturb one again and again.
    """

    def run(self, argv: Sequence[str], *, out: Path, times: str, timeout_s: float) -> Failed | None: ...


class Profiles(Port):
    """Keeps folders of profiler output of baseline and candidate, and reads them."""

    def fresh(self, target: str, side: Side) -> Path: ...
    def unreadable(self, target: str, side: Side, number: int) -> str: ...
    def drop(self, target: str, side: Side, number: int) -> None: ...
    def facts(self, target: str, side: Side, arch: str) -> tuple[Fact, ...]: ...
    def calls(self, target: str, side: Side) -> Mapping[str, int]: ...
    def why(self, target: str, arch: str) -> str: ...
    def rivals(self, out: Path, arch: str) -> RivalReport | Failed: ...
    def forget(self, target: str) -> None: ...


class Gate(Port):
    """Holds the machine's lock (shared for builds and tests, exclusive for timing) and waits until no foreign load is seen.
    Where a card has a lock of its own, `target` says which; `check` returns its name, else "".
    """

    def check(self, target: Target | None = None) -> str: ...
    def working(self, target: Target | None = None) -> AbstractContextManager[None]: ...
    def measuring(self, target: Target) -> AbstractContextManager[float]: ...


class Uncalibrated(Struct, frozen=True, kw_only=True):
    """The answer that no usable calibration is stored; `reason` says why a stored one can't be used, "" if none is stored."""

    reason: str = ""


class Calibrations(Port):
    """Stores calibrations (the noise of this machine) by target and benchmark, outside the repository."""

    def read(self, target: str, benchmark: Benchmark) -> Calibration | Uncalibrated: ...
    def write(self, benchmark: Benchmark, calibration: Calibration) -> Path: ...


class Controls(Port):
    """Stores passed controls of the measuring path by their identity, outside the repository."""

    def read(self, identity: str) -> ControlResult | None: ...
    def write(self, identity: str, passed: ControlResult) -> str: ...


class Durations(Port):
    """Remembers how many seconds steps took, by target; 0 if unknown. Nothing but forecasts rests on them."""

    def read(self, target: str, step: str) -> float: ...
    def write(self, target: str, step: str, seconds: float) -> None: ...


class Progress(Port):
    """Shows the user what a command is doing."""

    def title(self, experiment: str, title: str, *, base: str, target: str, protocol: str) -> None: ...
    def working(self, name: str, text: str) -> None: ...
    def step(self, name: str, text: str, duration_s: float = 0.0) -> None: ...
    def advance(self, name: str, done: int, total: int) -> None: ...
    def outlook(self, outlook: Outlook) -> None: ...
    def waiting(self, wait: Wait) -> None: ...
    def tick(self) -> None: ...


class Clock(Port):
    """Gives ISO dates for records, and monotonic seconds for durations."""

    def date(self) -> str: ...
    def monotonic_s(self) -> float: ...


Commands = tuple[tuple[str, ...], ...]


class Recipe(Port):
    """How one toolchain builds the kernel: whether it is installed, its commands, and the code hash and facts of a build.

    `preprocess` returns the command that writes the preprocessed source to `out`, by the options of the build; () for none.

    Layout 0 is the build as the toolchain makes it. The others only place the same code elsewhere, and may use what the
    commands of layout 0 left in the compiler's cache `objects`.

    `listing` returns the command that writes what functions compute, or their machine code, as text to `out`; () for none.
    """

    def availability(self, build: BuildSpec) -> Available | Unavailable: ...
    def commands(self, build: BuildSpec, *, out: Path, layout: int = 0, objects: Path | None = None) -> Commands: ...
    def preprocess(self, build: BuildSpec, *, out: Path) -> tuple[str, ...]: ...
    def listing(self, build: BuildSpec, *, out: Path, view: View) -> tuple[str, ...]: ...
    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]: ...
