"""Builds, steps, profiles and a gate that answer what a test wants."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from expctl.domain.errors import Busy
from expctl.domain.experiment.control_result import ControlResult
from expctl.domain.experiment.record import Artifact, Fact
from expctl.domain.experiment.rivals import RivalReport
from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.machine.first_run import FirstRun
from expctl.domain.protocol.model import Benchmark, Target
from expctl.domain.protocol.step import Step
from expctl.domain.run.step_result import Available, Failed, TestReport, Unavailable
from expctl.domain.verdict.calibration import Calibration
from expctl.domain.verdict.samples import Sample, Side
from expctl.ports.measuring import Progress, Uncalibrated
from tests.fakes.workspace import FakeWorkspace


@dataclass
class FakeGate:
    """Quiet unless it is busy. `shares` counts builds and tests under the machine's lock, but for those of whoever held it."""

    busy: bool = False
    holds: int = 0
    shares: int = 0
    held: bool = False
    shared: bool = False

    def check(self, target: Target | None = None) -> str:
        assert target is None or target.build
        assert not self.held
        return ""

    @contextmanager
    def working(self, target: Target | None = None) -> Iterator[None]:
        assert target is None or target.build
        assert not self.shared
        self.shares += not self.held
        self.shared = True
        try:
            yield
        finally:
            self.shared = False

    @contextmanager
    def measuring(self, target: Target) -> Iterator[float]:
        assert not self.held
        assert not self.shared, "an upgrade isn't atomic"
        if self.busy:
            raise Busy("the machine is not quiet", code="machine-not-quiet", found=target.number_kind)
        self.held = True
        self.holds += 1
        try:
            yield 0.0
        finally:
            self.held = False


@dataclass
class FakeToolchains:
    """A build's code is the text of the kernel; `refuses` maps a word in it to a compiler's error. What follows `//` is code
    of the guard alone."""

    workspace: FakeWorkspace
    absent: dict[str, Unavailable] = field(default_factory=dict)
    refuses: dict[tuple[str, str], str] = field(default_factory=dict)
    builds: list[tuple[str, str]] = field(default_factory=list)
    preprocesses: bool = False
    gate: FakeGate = field(default_factory=lambda: FakeGate(shared=True))

    def availability(self, name: str, target: Target) -> Available | Unavailable:
        assert target.build
        return self.absent.get(name) or Available(versions={"cc": "1.0"})

    def build(self, name: str, target: Target, *, tree: Path, sources: str, like: Artifact | None = None) -> Artifact | Failed:
        assert target.build
        assert sources
        assert self.gate.shared
        text = self.workspace.commits[tree.name].files["src/kernel"].decode()
        source = text.split("#")[0].strip() if self.preprocesses else ""
        if like is not None and source and source == like.source:
            return like
        self.builds.append((name, text))
        for (where, word), reason in self.refuses.items():
            if where == name and word in text:
                return Failed(reason=reason)
        code = text.split("#")[0].strip()
        code = code if name == "guard" else code.split("//")[0].strip()
        facts = (Fact(name="bytes", value=len(code)),) if name == "guard" else ()
        return Artifact(sha256=hashlib.sha256(text.encode()).hexdigest(), code=code, facts=facts, source=source)

    def path(self, target: Target, artifact: Artifact) -> Path:
        return Path(f"/artifacts/{artifact.code.replace(' ', '_')}/{target.build.artifact}")

    def layouts(self, target: Target, artifact: Artifact) -> tuple[Path, ...]:
        first = self.path(target, artifact)
        return (first, *(first.with_name(f"layout-{layout}") for layout in range(1, target.layouts)))


@dataclass
class FakeSteps:
    """A kernel that says `slow N` takes N ns per iteration, otherwise 1000000. Verdicts of the test by word in its code."""

    fails_test: dict[str, Failed] = field(default_factory=dict)
    fails_measure: list[Failed | None] = field(default_factory=list)
    profile_answer: tuple[Fact, ...] | Failed = (Fact(name="instructions", value=10),)
    tested: list[str] = field(default_factory=list)
    measured: list[int] = field(default_factory=list)
    timed: list[Mapping[Side, Sequence[Path]]] = field(default_factory=list)
    counter_answer: Failed | None = None
    profiled: list[str] = field(default_factory=list)
    passes: list[tuple[str, str]] = field(default_factory=list)
    taints: list[tuple[str, ...]] = field(default_factory=list)
    closed: int = 0
    burn_ins: list[BurnIn | BaseException] = field(default_factory=list)
    burnt: list[tuple[str, int]] = field(default_factory=list)
    first_runs: list[FirstRun] = field(default_factory=list)
    gate: FakeGate = field(default_factory=lambda: FakeGate(held=True))
    forgiven: list[bool] = field(default_factory=list)

    def test(self, step: Step, *, cwd: Path, artifact: Path, progress: Progress) -> TestReport | Failed:
        assert step.argv
        assert cwd
        assert self.gate.shared
        code = artifact.parent.name
        self.tested.append(code)
        progress.advance("test", 1, 0)
        return next(
            (failed for word, failed in self.fails_test.items() if word in code), TestReport(cases=3, summary="3 cases pass")
        )

    def measure(
        self,
        benchmark: Benchmark,
        *,
        cwd: Path,
        artifacts: Mapping[Side, Sequence[Path]],
        round: int,
        progress: Progress,
        forgives: bool = False,
    ) -> tuple[Sample, ...] | Failed:
        assert cwd
        assert self.gate.held
        self.measured.append(round)
        self.forgiven.append(forgives)
        self.timed.append(artifacts)
        taints = self.taints.pop(0) if self.taints else ()
        failed = self.fails_measure.pop(0) if self.fails_measure else None
        if failed is not None:
            return failed
        progress.tick()
        wobble = 100 * (round % 2)

        def sample(side: Side, launch: int, size: str) -> Sample:
            word = artifacts[side][0].parent.name
            ns = int(word.removeprefix("slow_")) if word.startswith("slow_") else 1_000_000
            times = (ns + wobble * launch, ns + wobble * launch)
            return Sample(
                round=round,
                launch=launch,
                side=side,
                size=size,
                style=benchmark.style,
                visit=1,
                ns=times,
                order="ABBA",
                taints=taints,
            )

        order = (Side.BASELINE, Side.CANDIDATE, Side.CANDIDATE, Side.BASELINE)
        return tuple(sample(side, launch, size.name) for launch, side in enumerate(order) for size in benchmark.sizes)

    def burn_in(self, benchmark: Benchmark, *, cwd: Path, artifact: Path, progress: Progress) -> BurnIn:
        assert benchmark.burn_in
        assert cwd.parent.name == "b"
        assert self.gate.held
        assert progress
        self.burnt.append((artifact.parent.name, len(self.measured)))
        found = self.burn_ins.pop(0)
        if isinstance(found, BaseException):
            raise found
        return found

    def take_first_runs(self) -> tuple[FirstRun, ...]:
        return (self.first_runs.pop(0),) if self.first_runs else ()

    def close(self) -> None:
        self.closed += 1

    def profile(
        self, step: Step, *, cwd: Path, tree: Path, artifact: Path, out: Path, progress: Progress
    ) -> tuple[Fact, ...] | Failed:
        assert step.argv
        assert cwd.parent.name == "b"
        assert self.gate.held or self.gate.shared
        self.passes.append((out.name, " ".join(step.argv)))
        assert progress
        self.profiled.append(f"{tree.parent.name} {artifact.parent.name}")
        return self.counter_answer if self.counter_answer and out.name != "0" else self.profile_answer


@dataclass
class FakeProfiles:
    """What profilers would have left: facts and a sentence for every target, and passes that are no profile."""

    answer: tuple[Fact, ...] = ()
    sentence: str = ""
    damaged: Mapping[int, str] = field(default_factory=dict)
    ran: Mapping[str, int] = field(default_factory=dict)
    dropped: list[tuple[Side, int]] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    compared: RivalReport | Failed = Failed(reason="no rivals.json")  # noqa: RUF009  a frozen value

    def fresh(self, target: str, side: Side) -> Path:
        return Path("/profiles", target, side)

    def unreadable(self, target: str, side: Side, number: int) -> str:
        assert target
        assert side
        return self.damaged.get(number, "")

    def drop(self, target: str, side: Side, number: int) -> None:
        assert target
        self.dropped.append((side, number))

    def facts(self, target: str, side: Side, arch: str) -> tuple[Fact, ...]:
        assert target
        assert arch == ""
        return () if (side, 0) in self.dropped else self.answer

    def calls(self, target: str, side: Side) -> Mapping[str, int]:
        assert target
        assert side is Side.CANDIDATE
        return self.ran

    def why(self, target: str, arch: str) -> str:
        assert target
        assert arch == ""
        return "" if any(number == 0 for _, number in self.dropped) else self.sentence

    def rivals(self, out: Path, arch: str) -> RivalReport | Failed:
        assert out.name == Side.BASELINE
        assert arch == ""
        return self.compared

    def forget(self, target: str) -> None:
        self.forgotten.append(target)


@dataclass
class FakeControls:
    """Passed controls in memory, by identity; `unwritable` is why none is kept."""

    stored: dict[str, ControlResult] = field(default_factory=dict)
    unwritable: str = ""

    def read(self, identity: str) -> ControlResult | None:
        return self.stored.get(identity)

    def write(self, identity: str, passed: ControlResult) -> str:
        if not self.unwritable:
            self.stored[identity] = passed
        return self.unwritable


@dataclass
class FakeCalibrations:
    """Calibrations in memory, by target; `unusable` is why a file would not be used."""

    stored: dict[str, Calibration] = field(default_factory=dict)
    unusable: str = ""

    def read(self, target: str, benchmark: Benchmark) -> Calibration | Uncalibrated:
        assert benchmark.sizes
        return self.stored.get(target) or Uncalibrated(reason=self.unusable)

    def write(self, benchmark: Benchmark, calibration: Calibration) -> Path:
        assert benchmark.sizes
        self.stored[calibration.target] = calibration
        return Path("/state") / calibration.target


@dataclass
class FakeSuiteCommands:
    """Writes the times (us) of each run in turn to `{times}`; a text is why a run failed."""

    runs: list[Sequence[float] | str]
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def run(self, argv: Sequence[str], *, out: Path, times: str, timeout_s: float) -> Failed | None:
        assert timeout_s > 0
        self.asked.append(tuple(argv))
        told = self.runs.pop(0)
        if isinstance(told, str):
            return Failed(reason=told)
        out.mkdir(exist_ok=True)
        (out / times).write_text("".join(f"{each}\n" for each in told))
        return None
