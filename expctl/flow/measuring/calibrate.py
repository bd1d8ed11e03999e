"""Calibrate the machine: measure HEAD against itself in rounds like those of a run. Nothing is committed."""

from dataclasses import dataclass
from pathlib import Path

from expctl.domain.errors import Busy, Interrupted, Refused
from expctl.domain.experiment.noise import Calibrated
from expctl.domain.protocol.calibration_rounds import ROUNDS
from expctl.domain.protocol.model import Calibrate, Protocol
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.calibration import Calibration, calibration_of, counted_rounds
from expctl.domain.verdict.judge import too_many
from expctl.domain.verdict.samples import Sample, Side
from expctl.flow.measuring.measure_round import measure_round
from expctl.flow.measuring.setup import Setup
from expctl.flow.repository import preflight
from expctl.flow.repository.recovery import clean_up_dead_runs
from expctl.ports.context import Context, Tools


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A new calibration (the noise of one target on this machine) and the file that it was written to."""

    calibration: Calibration
    path: Path


def calibrate(context: Context, *, target: str = "", rounds: int = ROUNDS) -> Stored:
    """Measure HEAD against itself on `target` ("": the first available) in `rounds` rounds, and store the noise found. Raises
    Refused, Busy or Interrupted, with nothing stored.
    """
    with context.locks.measuring(experiment="calibrate") as holder:
        clean_up_dead_runs(context)
        head = context.workspace.head()
        protocol = context.library.protocol(head)
        tools = context.tools_for(protocol, "calibrate")
        chosen = preflight.choose_targets(protocol, tools.toolchains, target).deciding
        identity = context.workspace.files_identity(head, ("protocol.yaml", *protocol.harness))
        context.progress.title("calibrate", "HEAD against itself", base=head, target=chosen, protocol=identity)
        for gap in context.gaps:
            context.progress.step("walls", gap)
        holder.show("measure")
        try:
            return _measured(Setup(context=context, protocol=protocol, tools=tools, head=head, name=chosen), rounds)
        finally:
            context.workspace.remove_check_outs()


def known_noise(context: Context, tools: Tools, protocol: Protocol, *, base: str, target: str) -> Calibrated | None:
    """Return this machine's stored noise of `target`. If there is none, measure the commit `base`, or return None. It is
    measured if protocol.yaml requires a calibration; None is returned if that is only advised.
    """
    setup = Setup(context=context, protocol=protocol, tools=tools, head=base, name=target)
    found = context.calibrations.read(target, setup.benchmark)
    if isinstance(found, Calibration):
        return found.fixed()
    if found.reason:
        context.progress.step("noise", f"the stored calibration is not used: {found.reason}")
    if setup.benchmark.calibrate is Calibrate.ADVISED:
        return None
    context.progress.step("noise", f"protocol.yaml requires a calibration of {target}: {ROUNDS} rounds first")
    return _measured(setup, ROUNDS).calibration.fixed()


def _measured(setup: Setup, rounds: int) -> Stored:
    context = setup.context
    setup.tools.gate.check(setup.target)
    context.progress.working("build", setup.name)
    started = context.clock.monotonic_s()
    cwd = setup.check_out(setup.head, Side.BASELINE)
    made = setup.build(setup.head, cwd)
    if isinstance(made, Failed):
        raise Refused(
            f"{setup.head[:10]} does not build for {setup.name}",
            code="baseline-does-not-build",
            expected="a build of this commit, to measure it against itself",
            found=made.reason,
            hint="correct the build and commit, then run the same command again",
        )
    context.progress.step("build", setup.name, round(context.clock.monotonic_s() - started, 3))
    context.progress.working("gate", "waiting for a quiet machine")
    with setup.tools.gate.measuring(setup.target):
        try:
            samples = _rounds(setup, made[1], cwd, rounds)
        finally:
            setup.tools.steps.close()
    calibration = calibration_of(
        samples, target=setup.name, benchmark=setup.benchmark, date=context.clock.date(), base=setup.head
    )
    return Stored(calibration=calibration, path=context.calibrations.write(setup.benchmark, calibration))


def _rounds(setup: Setup, layouts: tuple[Path, ...], cwd: Path, rounds: int) -> tuple[Sample, ...]:
    """Measure until `rounds` rounds were undisturbed; return all samples, those of disturbed rounds too.

    Both sides run the same build; if it has several layouts (placements of its code), each side runs another one, so that the
    noise of placement is included. Raises Busy if more than a quarter of the rounds are disturbed.
    """
    context, artifacts = setup.context, {Side.BASELINE: layouts, Side.CANDIDATE: (*layouts[1:], layouts[0])}
    samples: list[Sample] = []
    number = tainted = done = 0
    while done < rounds:
        found = measure_round(context, setup.tools, setup.benchmark, cwd=cwd, artifacts=artifacts, number=number)
        if isinstance(found, Failed):
            raise Refused(
                f"the benchmark of {setup.name} failed in round {number + 1}",
                code="benchmark-failed",
                expected="a benchmark script that can measure HEAD",
                found=found.reason,
                hint="correct the script (docs/HARNESS.md of expctl says what it must do), commit, run the same command again",
            )
        samples += found
        number += 1
        tainted += any(each.taints for each in found)
        done = len(counted_rounds(samples, setup.benchmark))
        context.progress.advance("calibrate round", done, rounds)
        if too_many(tainted, number):
            why = ", ".join(sorted({taint for sample in samples for taint in sample.taints}))
            raise Busy(
                "other processes disturb the machine too often to calibrate it",
                code="calibration-not-quiet",
                expected="at least three of four rounds without foreign work",
                found=f"{tainted} of {number} rounds were disturbed ({why})",
                hint="let those processes finish, then run the same command again; `expctl gate` shows them",
            )
        if done < rounds and context.stop_requested():
            raise Interrupted(f"stopped after round {number} of a calibration; nothing is kept, the same command starts over")
    return tuple(samples)
