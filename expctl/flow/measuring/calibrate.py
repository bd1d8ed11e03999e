"""Calibrate the machine: measure HEAD against itself in rounds like those of a run. Nothing is committed."""

from dataclasses import dataclass
from pathlib import Path

from expctl.domain.errors import Busy, Interrupted, Refused
from expctl.domain.experiment.noise import Calibrated
from expctl.domain.protocol.calibration_rounds import ROUNDS
from expctl.domain.protocol.model import Benchmark, Calibrate, Protocol
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.calibration import Calibration, calibration_of
from expctl.domain.verdict.judge import too_many
from expctl.domain.verdict.samples import Sample, Side, round_effects
from expctl.flow.measuring.measure_round import measure_round
from expctl.flow.repository import preflight
from expctl.flow.repository.recovery import clean_up_dead_runs
from expctl.ports.context import Context, Tools

CHECK_OUT = "b"  # folder of the baseline's check-out in a run


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A new calibration and the file that holds it."""

    calibration: Calibration
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """The commit `base` and target that are measured against themselves."""

    protocol: Protocol
    tools: Tools
    base: str
    target: str

    @property
    def benchmark(self) -> Benchmark:
        """Return the target's benchmark, which `inconsistencies` has made sure exists."""
        benchmark = self.protocol.targets[self.target].benchmark
        if benchmark is None:
            raise TypeError(f"{self.target} decides without a benchmark")
        return benchmark


def calibrate(context: Context, *, target: str = "", rounds: int = ROUNDS) -> Stored:
    """Measure and store the noise of `target` at HEAD. Raises Refused, Busy or Interrupted; nothing is stored then."""
    with context.locks.repository(experiment="calibrate") as holder:
        clean_up_dead_runs(context)
        head = context.workspace.head()
        protocol = context.library.protocol(head)
        tools = context.tools_for(protocol, "calibrate")
        chosen = preflight.choose_targets(protocol, tools.toolchains, target).deciding
        identity = context.workspace.protocol_identity(head, ("protocol.yaml", *protocol.harness))
        context.progress.title("calibrate", "HEAD against itself", base=head, target=chosen, protocol=identity)
        for gap in context.gaps:
            context.progress.step("walls", gap)
        holder.show("measure")
        try:
            return _measured(context, _Subject(protocol=protocol, tools=tools, base=head, target=chosen), rounds)
        finally:
            context.workspace.remove_check_outs()


def known_noise(context: Context, tools: Tools, protocol: Protocol, *, base: str, target: str) -> Calibrated | None:
    """Return the stored calibration for a run on `base`; without one, measure it if the protocol requires it, else None."""
    subject = _Subject(protocol=protocol, tools=tools, base=base, target=target)
    found = context.calibrations.read(target, subject.benchmark)
    if isinstance(found, Calibration):
        return found.fixed()
    if found.reason:
        context.progress.step("noise", f"the stored calibration is not used: {found.reason}")
    if subject.benchmark.calibrate is Calibrate.ADVISED:
        return None
    context.progress.step("noise", f"protocol.yaml requires a calibration of {target}: {ROUNDS} rounds first")
    return _measured(context, subject, ROUNDS).calibration.fixed()


def _measured(context: Context, subject: _Subject, rounds: int) -> Stored:
    artifact, cwd = _build(context, subject)
    context.progress.working("gate", "waiting for a quiet machine")
    with subject.tools.gate.measuring(subject.protocol.targets[subject.target]):
        try:
            samples = _rounds(context, subject, artifact, cwd, rounds)
        finally:
            subject.tools.steps.close()
    calibration = calibration_of(
        samples, target=subject.target, benchmark=subject.benchmark, date=context.clock.date(), base=subject.base
    )
    return Stored(calibration=calibration, path=context.calibrations.write(subject.benchmark, calibration))


def _build(context: Context, subject: _Subject) -> tuple[Path, Path]:
    """Return the build's file and the check-out that it was built from. Raises Refused if it doesn't build."""
    name, target, toolchains = subject.target, subject.protocol.targets[subject.target], subject.tools.toolchains
    context.progress.working("build", name)
    started = context.clock.monotonic_s()
    cwd = context.workspace.check_out(subject.base, CHECK_OUT, sealed=subject.protocol.harness)
    with subject.tools.gate.working():
        made = toolchains.build(name, target, tree=cwd, sources=context.workspace.source_identity(subject.base))
    path = None if isinstance(made, Failed) else toolchains.path(target, made)
    if path is None:
        raise Refused(
            f"{subject.base[:10]} does not build for {name}",
            code="baseline-does-not-build",
            expected="an artifact to measure against itself",
            found=made.reason if isinstance(made, Failed) else "the build's file is gone or was changed",
            hint="mend the build and commit, then run the same command again",
        )
    context.progress.step("build", name, round(context.clock.monotonic_s() - started, 3))
    return path, cwd


def _rounds(context: Context, subject: _Subject, artifact: Path, cwd: Path, rounds: int) -> tuple[Sample, ...]:
    """Return the samples of `rounds` usable rounds and of the tainted ones between. Raises Busy on too much foreign work."""
    samples: list[Sample] = []
    number = tainted = lost = 0
    while number - lost < rounds:
        found = measure_round(
            context, subject.tools, subject.benchmark, cwd=cwd, artifacts=dict.fromkeys(Side, artifact), number=number
        )
        if isinstance(found, Failed):
            raise Refused(
                f"the benchmark of {subject.target} failed in round {number + 1}",
                code="benchmark-failed",
                expected="a harness that can measure the head commit",
                found=found.reason,
                hint="mend it (docs/HARNESS.md is its contract), commit, then run the same command again",
            )
        samples += found
        number += 1
        tainted += any(each.taints for each in found)
        lost += not round_effects(found)
        context.progress.advance("calibrate round", number - lost, rounds)
        if too_many(tainted, number):
            why = ", ".join(sorted({taint for sample in samples for taint in sample.taints}))
            raise Busy(
                "the machine is not quiet enough to be calibrated",
                code="calibration-not-quiet",
                expected="no foreign work in three of four rounds",
                found=f"{tainted} of {number} rounds were tainted ({why})",
                hint="let it finish, then run the same command again; `expctl gate` shows what blocks",
            )
        if number - lost < rounds and context.stop_requested():
            raise Interrupted(f"stopped after round {number} of a calibration; it is not kept, the same command starts over")
    return tuple(samples)
