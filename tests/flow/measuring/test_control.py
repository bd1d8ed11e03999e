"""The control in a world of fakes: a right path passes once a day, a wrong one decides nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.domain.errors import ControlFailed, ExitStatus, Interrupted
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.protocol.model import Benchmark, Control
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Sample, Side
from expctl.flow.audit.commit_comparison import compare_commits
from expctl.flow.autopilot.budget import Budget
from expctl.flow.autopilot.run_all import run_all
from expctl.flow.autopilot.steps import NothingProposed, SweepFinished
from expctl.flow.measuring.control import slowed_commit
from expctl.flow.measuring.setup import Setup
from expctl.flow.run.experiment import run_experiment
from expctl.ports.measuring import Progress
from tests.fakes.measuring import FakeSteps
from tests.fakes.run import Crash
from tests.fakes.stage import BENCHMARK, PROTOCOL, Stage, patch_to
from tests.refusals import refuses

PATCH = "controls/slower"
SLOWER = "slow 1050000"
REJECTED = "slow 1100000"  # so that HEAD stays, and with it what the stand-in is slower than


@dataclass
class Exchanged(FakeSteps):
    """A harness that takes one build for the other."""

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
        other = {Side.BASELINE: artifacts[Side.CANDIDATE], Side.CANDIDATE: artifacts[Side.BASELINE]}
        return super().measure(benchmark, cwd=cwd, artifacts=other, round=round, progress=progress, forgives=forgives)


@dataclass
class Deaf(FakeSteps):
    """A harness that times a build of its own, whatever it is given."""

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
        same = dict.fromkeys(Side, artifacts[Side.BASELINE])
        return super().measure(benchmark, cwd=cwd, artifacts=same, round=round, progress=progress, forgives=forgives)


def staged(steps: FakeSteps | None = None, *, slower: str = SLOWER, patch: bytes | None = None) -> Stage:
    stage = Stage() if steps is None else Stage(steps=steps)
    base = stage.workspace.commits[stage.workspace.head()].files
    stand_in = patch_to(slower) if patch is None else patch
    stage.workspace.refs["refs/heads/main"] = stage.workspace.add("", {**base, PATCH: stand_in}, "with a control")
    benchmark = replace(BENCHMARK, control=Control(patch=PATCH, slower_percent=5.0))
    cpu = replace(PROTOCOL.targets["cpu"], benchmark=benchmark)
    stage.library.given_protocol = replace(PROTOCOL, targets={**PROTOCOL.targets, "cpu": cpu})
    stage.queue("P1", REJECTED)
    return stage


def control_lines(stage: Stage) -> list[str]:
    return [line for line in stage.progress.lines if line.startswith("control a kernel")]


def setup_of(stage: Stage) -> Setup:
    context = stage.context()
    protocol = context.library.protocol(stage.workspace.head())
    return Setup(
        context=context,
        protocol=protocol,
        tools=context.tools_for(protocol, ""),
        head=stage.workspace.head(),
        name="cpu",
    )


def test_a_right_path_is_shown_once_and_the_record_has_the_figures() -> None:
    stage = staged()
    record = run_experiment(stage.context(), "P1").record
    assert record.verdict is Verdict.REJECT
    found = record.control
    assert found is not None
    assert found.slower.effect_percent == pytest.approx(-100 * 0.05 / 1.05, abs=0.01)
    assert found.faster.effect_percent == pytest.approx(5.0, abs=0.01)
    assert found.slower.high_percent < 0 < found.faster.low_percent
    assert stage.steps.measured[:6] == [0, 1, 2, 0, 1, 2], "three rounds in each role, and then those of the run"
    (line,) = control_lines(stage)
    assert line.startswith("control a kernel 5 % slower seen as -4.76 % [")
    rounds, builds = len(stage.steps.measured), len(stage.toolchains.builds)
    stage.queue("P2", "slow 1200000")
    again = run_experiment(stage.context(), "P2").record
    assert again.control == found
    assert len(control_lines(stage)) == 1
    assert len(stage.steps.measured) - rounds == rounds - 6
    assert len(stage.toolchains.builds) < 2 * builds


def test_it_is_shown_again_a_day_later_and_by_another_harness() -> None:
    stage = staged()
    run_experiment(stage.context(), "P1")
    (stored,) = stage.controls.stored.items()
    stage.controls.stored[stored[0]] = replace(stored[1], date="2026-02-28T23:59:59Z")
    stage.queue("P2", "slow 1200000")
    record = run_experiment(stage.context(), "P2").record
    assert len(control_lines(stage)) == 2
    assert record.control is not None
    assert record.control.date.startswith("2026-03-01")
    files = stage.workspace.commits[stage.workspace.head()].files
    head = stage.workspace.add(stage.workspace.head(), {**files, "bench/run": b"another"}, "another harness")
    stage.workspace.refs["refs/heads/main"] = head
    stage.queue("P3", "slow 1300000")
    run_experiment(stage.context(), "P3")
    assert len(control_lines(stage)) == 3


def test_a_target_without_a_control_is_measured_as_ever() -> None:
    stage = staged()
    stage.library.given_protocol = PROTOCOL
    assert run_experiment(stage.context(), "P1").record.control is None
    assert control_lines(stage) == []


def test_what_a_control_costs_is_paid_only_by_what_is_timed() -> None:
    stage = staged()
    stage.queue("P2", "slow 1000000 # the same code")
    assert run_experiment(stage.context(), "P2").record.verdict is Verdict.NO_OP
    assert stage.steps.measured == []


WRONG: list[tuple[Callable[[], Stage], str, str]] = [
    (lambda: staged(Exchanged()), "control-failed", "the roles of baseline and candidate look exchanged"),
    (lambda: staged(Deaf()), "control-failed", "hardly shows: is the build timed that the benchmark is given?"),
    (lambda: staged(slower="slow 1400000"), "control-failed", "the times change far more than the kernel"),
    (lambda: staged(slower="slow 1010000"), "control-failed", "hardly shows"),
    (lambda: staged(patch=b"no patch"), "control-patch-does-not-apply", ""),
    (lambda: staged(slower="syntax"), "control-does-not-build", "slower: syntax"),
    (lambda: staged(FakeSteps(fails_measure=[None, Failed(reason="wrong")])), "control-not-measured", "wrong"),
]


@pytest.mark.parametrize(("prepare", "code", "found"), WRONG)
def test_a_failed_control_decides_nothing(prepare: Callable[[], Stage], code: str, found: str) -> None:
    stage = prepare()
    stage.toolchains.refuses["cpu", "syntax"] = "syntax"
    head = stage.workspace.head()
    with refuses(code, ControlFailed) as caught:
        run_experiment(stage.context(), "P1")
    assert found in caught.value.found
    assert "P1 stays queued" in caught.value.hint
    assert caught.value.status is ExitStatus.REFUSED
    assert stage.workspace.head() == head
    assert (stage.journal.events, stage.controls.stored) == ({}, {})
    assert not stage.workspace.check_outs
    assert (stage.locks.held, stage.gate.held) == (False, False)


@pytest.mark.parametrize(("again", "kept"), [(False, "P1 stays queued"), (True, "the record of P1 stays as it is")])
def test_a_control_patch_that_is_missing_is_named_before_anything_is_built(again: bool, kept: str) -> None:
    stage = staged()
    if again:
        stage.library.given_protocol = PROTOCOL
        run_experiment(stage.context(), "P1")
    lost = replace(BENCHMARK, control=Control(patch="controls/lost", slower_percent=5.0))
    targets = {**PROTOCOL.targets, "cpu": replace(PROTOCOL.targets["cpu"], benchmark=lost)}
    stage.library.given_protocol = replace(PROTOCOL, targets=targets)
    builds, events = list(stage.toolchains.builds), dict(stage.journal.events)
    with refuses("control-patch-does-not-apply", ControlFailed) as caught:
        run_experiment(stage.context(), "P1", again=again)
    assert "there is no such file" in caught.value.found
    assert kept in caught.value.hint
    assert (stage.toolchains.builds, stage.journal.events) == (builds, events)


def test_a_kernel_that_the_patch_of_todays_control_no_longer_fits_is_measured_until_tomorrow() -> None:
    stage = staged(patch=patch_to(f"was:slow 1000000:{SLOWER}"))
    stage.queue("P2", "slow 900000")
    assert run_experiment(stage.context(), "P2").record.verdict is Verdict.KEEP
    assert run_experiment(stage.context(), "P1").record.control is not None
    stage.controls.stored.clear()
    stage.queue("P3", "slow 1300000")
    with refuses("control-patch-does-not-apply", ControlFailed):
        run_experiment(stage.context(), "P3")


def test_the_queue_stops_at_a_failed_control() -> None:
    stage = staged(Exchanged())
    stage.queue("P2", "slow 1200000")

    def ask(*_: object) -> NothingProposed | SweepFinished:
        raise AssertionError("nobody is asked")

    with refuses("control-failed", ControlFailed):
        list(run_all(stage.context(), target="", budget=Budget(), ask=ask, pause=lambda _: None))
    assert stage.steps.measured == [0, 1, 2]


def test_noise_in_which_the_stand_in_is_lost_fails() -> None:
    stage = staged()

    def noisy(*_: object, round: int, **words: object) -> tuple[Sample, ...] | Failed:
        found = FakeSteps.measure(stage.steps, *_, round=round, **words)  # type: ignore[arg-type]
        assert not isinstance(found, Failed)
        factor = {Side.BASELINE: 1.0, Side.CANDIDATE: 1.5 if round % 2 else 0.7}
        return tuple(replace(each, ns=tuple(int(ns * factor[each.side]) for ns in each.ns)) for each in found)

    stage.steps.measure = noisy  # type: ignore[method-assign]
    with refuses("control-failed", ControlFailed) as caught:
        run_experiment(stage.context(), "P1")
    assert "after 10 rounds: too noisy to tell" in caught.value.found


def test_disturbed_rounds_are_measured_again_and_too_many_are_busy() -> None:
    stage = staged()
    stage.steps.taints = [("ncu matches ncu",)]
    assert run_experiment(stage.context(), "P1").record.verdict is Verdict.REJECT
    assert stage.steps.measured[:7] == [0, 1, 2, 3, 0, 1, 2]
    stage = staged()
    stage.steps.taints = [("ncu matches ncu",)] * 3
    with refuses("control-not-quiet"):
        run_experiment(stage.context(), "P1")
    assert stage.controls.stored == {}


def test_a_run_that_is_stopped_in_its_control_goes_on_from_there() -> None:
    stage = staged()
    run = run_experiment(stage.context(), "P1").record
    stage = staged()
    for stops_after in range(4, 12):
        stage.stops_after = stops_after
        try:
            run_experiment(stage.context(), "P1")
        except Interrupted as interrupted:
            if "of the control" in str(interrupted):
                break
    else:
        raise AssertionError("no stop fell into the control")
    assert stage.journal.events["P1"]
    builds = list(stage.toolchains.builds)
    stage.stops_after = -1
    record = run_experiment(stage.context(), "P1").record
    assert (record.verdict, record.control is not None) == (run.verdict, True)
    assert stage.toolchains.builds[len(builds) :] == [("cpu", "slow 1000000"), ("cpu", SLOWER)], "those of the control alone"


def test_a_run_that_dies_in_its_control_or_after_it_resumes() -> None:
    died: list[Stage] = []
    for crash_at in range(1, 14):
        stage = staged()
        stage.journal.crash_at, stage.journal.crash_before = crash_at, True
        with pytest.raises(Crash):
            run_experiment(stage.context(), "P1")
        record = run_experiment(stage.context(), "P1").record
        assert record.verdict is Verdict.REJECT
        assert record.control is not None
        died += [stage]
    assert all(len(control_lines(stage)) == 1 for stage in died), "what passed before the death is not shown again"


def test_where_it_cannot_be_kept_it_is_said_and_shown_again() -> None:
    stage = staged()
    stage.controls.unwritable = "no home folder"
    run_experiment(stage.context(), "P1")
    stage.queue("P2", "slow 1200000")
    run_experiment(stage.context(), "P2")
    assert len(control_lines(stage)) == 2
    assert "shown again by the next run, because it can't be kept: no home folder" in control_lines(stage)[0]


def test_the_slowed_commit_is_head_with_the_patch_and_nothing_else() -> None:
    stage = staged()
    made = slowed_commit(setup_of(stage))
    assert isinstance(made, str)
    commit, head = stage.workspace.commits[made], stage.workspace.commits[stage.workspace.head()]
    assert commit.files == {**head.files, "src/kernel": SLOWER.encode()}
    assert commit.parent == stage.workspace.head()
    stage.library.given_protocol = PROTOCOL
    missing = slowed_commit(setup_of(stage))
    assert isinstance(missing, Failed)
    assert missing.reason == "protocol.yaml names no control for cpu"


def test_a_replication_has_the_figures_too() -> None:
    stage = staged()
    first = run_experiment(stage.context(), "P1").record
    record = run_experiment(stage.context(), "P1", again=True).record
    assert [each.control for each in record.replications] == [first.control]


def test_a_comparison_of_commits_is_refused_as_well() -> None:
    stage = staged(Exchanged())
    setup = setup_of(stage)
    slowed = slowed_commit(setup)
    assert isinstance(slowed, str)
    with refuses("control-failed", ControlFailed) as caught:
        compare_commits(setup, setup.head, slowed, name="stack")
    assert "nothing was compared" in caught.value.hint
    stage.steps = FakeSteps(gate=stage.gate)
    assert compare_commits(setup_of(stage), setup.head, slowed, name="stack").verdict is Verdict.REJECT
