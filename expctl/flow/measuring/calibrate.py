"""Calibration: the head commit against itself, in the very rounds of a run. Nothing is committed and no commit is judged."""

from dataclasses import dataclass
from pathlib import Path

from expctl.domain.errors import Busy, Interrupted, Refused
from expctl.domain.experiment.noise import ROUNDS, Calibrated
from expctl.domain.protocol.model import Benchmark, Calibrate, Protocol
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.calibration import Calibration, calibration_of
from expctl.domain.verdict.judge import too_many
from expctl.domain.verdict.samples import Sample, Side, round_effects
from expctl.flow.measuring.measure_round import measure_round
from expctl.flow.repository import preflight
from expctl.flow.repository.recovery import clear_the_deck
from expctl.ports.context import Equipment, World

CHECK_OUT = "b"  # where a run has its baseline


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A new calibration and the file that keeps it."""

    calibration: Calibration
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """What is measured against itself: one commit, for one target of its protocol."""

    protocol: Protocol
    equipment: Equipment
    base: str
    target: str

    @property
    def benchmark(self) -> Benchmark:
        """Of the target; `inconsistencies` saw to it that there is one."""
        benchmark = self.protocol.targets[self.target].benchmark
        if benchmark is None:
            raise TypeError(f"{self.target} decides without a benchmark")
        return benchmark


def calibrate(world: World, *, target: str = "", rounds: int = ROUNDS) -> Stored:
    """Measure the noise of HEAD's target and keep it. Raises Refused, Busy or Interrupted; nothing is kept then."""
    with world.locks.repository(experiment="calibrate") as holder:
        clear_the_deck(world)
        head = world.workspace.head()
        protocol = world.library.protocol(head)
        equipment = world.equip(protocol, "calibrate")
        chosen = preflight.choose_targets(protocol, equipment.toolchains, target).deciding
        identity = world.workspace.protocol_identity(head, ("protocol.yaml", *protocol.harness))
        world.progress.title("calibrate", "HEAD against itself", base=head, target=chosen, protocol=identity)
        for gap in world.gaps:
            world.progress.step("walls", gap)
        holder.show("measure")
        try:
            return _measured(world, _Subject(protocol=protocol, equipment=equipment, base=head, target=chosen), rounds)
        finally:
            world.workspace.remove_check_outs()


def known_noise(world: World, equipment: Equipment, protocol: Protocol, *, base: str, target: str) -> Calibrated | None:
    """What a run on `base` may rest on: what is stored, measured first where the protocol requires it."""
    subject = _Subject(protocol=protocol, equipment=equipment, base=base, target=target)
    found = world.calibrations.read(target, subject.benchmark)
    if isinstance(found, Calibration):
        return found.fixed()
    if found.reason:
        world.progress.step("noise", f"the stored calibration is not used: {found.reason}")
    if subject.benchmark.calibrate is Calibrate.ADVISED:
        return None
    world.progress.step("noise", f"protocol.yaml requires a calibration of {target}: {ROUNDS} rounds first")
    return _measured(world, subject, ROUNDS).calibration.fixed()


def _measured(world: World, subject: _Subject, rounds: int) -> Stored:
    artifact, cwd = _build(world, subject)
    world.progress.working("gate", "waiting for a quiet machine")
    with subject.equipment.gate.measuring(subject.protocol.targets[subject.target]):
        try:
            samples = _rounds(world, subject, artifact, cwd, rounds)
        finally:
            subject.equipment.steps.close()
    calibration = calibration_of(
        samples, target=subject.target, benchmark=subject.benchmark, date=world.clock.date(), base=subject.base
    )
    return Stored(calibration=calibration, path=world.calibrations.write(subject.benchmark, calibration))


def _build(world: World, subject: _Subject) -> tuple[Path, Path]:
    """The build's file, and the check-out that it came from."""
    name, target, toolchains = subject.target, subject.protocol.targets[subject.target], subject.equipment.toolchains
    world.progress.working("build", name)
    started = world.clock.monotonic_s()
    cwd = world.workspace.check_out(subject.base, CHECK_OUT, sealed=subject.protocol.harness)
    with subject.equipment.gate.working():
        made = toolchains.build(name, target, tree=cwd, sources=world.workspace.source_identity(subject.base))
    path = None if isinstance(made, Failed) else toolchains.path(target, made)
    if path is None:
        raise Refused(
            f"{subject.base[:10]} does not build for {name}",
            expected="an artifact to measure against itself",
            found=made.reason if isinstance(made, Failed) else "the build's file is gone or was changed",
            hint="mend the build and commit, then run the same command again",
        )
    world.progress.step("build", name, round(world.clock.monotonic_s() - started, 3))
    return path, cwd


def _rounds(world: World, subject: _Subject, artifact: Path, cwd: Path, rounds: int) -> tuple[Sample, ...]:
    """So many untainted rounds, and the tainted ones between them."""
    samples: list[Sample] = []
    number = tainted = lost = 0
    while number - lost < rounds:
        found = measure_round(
            world, subject.equipment, subject.benchmark, cwd=cwd, artifacts=dict.fromkeys(Side, artifact), number=number
        )
        if isinstance(found, Failed):
            raise Refused(
                f"the benchmark of {subject.target} failed in round {number + 1}",
                expected="a harness that can measure the head commit",
                found=found.reason,
                hint="mend it (docs/HARNESS.md is its contract), commit, then run the same command again",
            )
        samples += found
        number += 1
        tainted += any(each.taints for each in found)
        lost += not round_effects(found)
        world.progress.advance("calibrate round", number - lost, rounds)
        if too_many(tainted, number):
            why = ", ".join(sorted({taint for sample in samples for taint in sample.taints}))
            raise Busy(
                "the machine is not quiet enough to be calibrated",
                expected="no foreign work in three of four rounds",
                found=f"{tainted} of {number} rounds were tainted ({why})",
                hint="let it finish, then run the same command again; `expctl gate` shows what blocks",
            )
        if number - lost < rounds and world.stop_requested():
            raise Interrupted(f"stopped after round {number} of a calibration; it is not kept, the same command starts over")
    return tuple(samples)
