"""The control in a run, by docs/HARNESS.md and decision 26: what makes it due again, and what a failing one leaves alone."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from expctl.domain.errors import ControlFailed
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.protocol.model import Control, KeepRule, Target
from expctl.domain.run.step_result import Available, Failed, Unavailable
from expctl.domain.verdict.samples import Sample, Side
from expctl.flow.run.experiment import run_experiment
from expctl.ports.context import Context
from tests.fakes.measuring import FakeSteps, FakeToolchains
from tests.fakes.stage import Stage, patch_to
from tests.fakes.undecided import WILD, NoisySteps
from tests.flow.measuring.test_control import PATCH, Exchanged, control_lines, staged
from tests.refusals import refuses

Factor = Callable[[Sample], float]


@dataclass
class Distorting(FakeSteps):
    """A harness that makes each time `factor` times as long."""

    factor: Factor = lambda _sample: 1.0

    def measure(self, *words: object, **named: object) -> tuple[Sample, ...] | Failed:
        found = super().measure(*words, **named)  # type: ignore[arg-type]
        if isinstance(found, Failed):
            return found
        return tuple(replace(each, ns=tuple(round(ns * self.factor(each)) for ns in each.ns)) for each in found)


def for_the_candidate(points: float) -> Factor:
    return lambda sample: math.exp(points / 100) if sample.side is Side.CANDIDATE else 1.0


# ------------------------------------------------------------------ wrong paths

PATHS: dict[str, tuple[Factor, str]] = {
    "two points against the candidate": (for_the_candidate(2), ""),
    "two points for the candidate": (for_the_candidate(-2), ""),
    "three points for the candidate": (for_the_candidate(-3), "the slower stand-in isn't seen as slower"),
    "three points against the candidate": (for_the_candidate(3), "the faster stand-in isn't seen as faster"),
    "drift from round to round": (lambda sample: 1 + 0.05 * sample.round, ""),
    "drift from launch to launch": (lambda sample: math.exp(0.05 * sample.launch), ""),
    "the last launch cold": (lambda sample: 1.6 if sample.launch == 3 else 1.0, "the slower stand-in isn't seen as slower"),
    "noise": (lambda sample: (0.7, 1.5)[sample.round % 2] if sample.side is Side.CANDIDATE else 1.0, "too noisy to tell"),
    "times twice as long": (lambda _sample: 2.0, ""),
}


@pytest.mark.parametrize("name", PATHS)
def test_which_paths_pass(name: str) -> None:
    factor, failure = PATHS[name]
    stage = staged(Distorting(factor=factor))
    if not failure:
        assert run_experiment(stage.context(), "P1").record.control is not None
        return
    with refuses("control-failed", ControlFailed) as caught:
        run_experiment(stage.context(), "P1")
    assert failure in f"{caught.value} {caught.value.found}"
    assert (stage.journal.events, stage.controls.stored) == ({}, {})


@pytest.mark.parametrize("percent", [1.0, 50.0])
def test_the_least_and_the_largest_stand_in(percent: float) -> None:
    for off, passes in ((1.0, True), (1.6, True), (0.4, False), (2.6, False)):
        stage = staged(slower=f"slow {round(10**6 * (1 + off * percent / 100))}")
        stage.library.given_protocol = with_control(stage, Control(patch=PATCH, slower_percent=percent))
        if passes:
            found = run_experiment(stage.context(), "P1").record.control
            assert found is not None
            assert found.slower_percent == percent
        else:
            with refuses("control-failed", ControlFailed):
                run_experiment(stage.context(), "P1")


def with_control(stage: Stage, control: Control | None, **changes: object):  # type: ignore[no-untyped-def]
    protocol = stage.library.given_protocol
    benchmark = protocol.targets["cpu"].benchmark
    assert benchmark is not None
    cpu = replace(protocol.targets["cpu"], benchmark=replace(benchmark, control=control, **changes))
    return replace(protocol, targets={**protocol.targets, "cpu": cpu})


@pytest.mark.parametrize("patch", [None, b"", b"no patch", patch_to("was:slow 7:slow 1050000")])
def test_a_patch_that_is_missing_empty_or_does_not_apply_decides_nothing(patch: bytes | None) -> None:
    stage = staged()
    stage.workspace.edit({PATCH: patch})
    head = stage.workspace.head()
    with refuses("control-patch-does-not-apply", ControlFailed) as caught:
        run_experiment(stage.context(), "P1")
    assert PATCH in caught.value.where
    assert stage.workspace.head() == head
    assert stage.steps.measured == []
    stage.workspace.edit({PATCH: patch_to("slow 1050000")})
    assert run_experiment(stage.context(), "P1").record.control is not None


# ------------------------------------------------------------------ what is kept, and until when


@dataclass
class OtherCompiler(FakeToolchains):
    def availability(self, name: str, target: Target) -> Available | Unavailable:
        found = super().availability(name, target)
        return Available(versions={"cc": "1.1"}) if isinstance(found, Available) else found


def dated(date: str) -> Callable[[Stage], None]:
    def change(stage: Stage) -> None:
        (identity,) = stage.controls.stored
        stage.controls.stored[identity] = replace(stage.controls.stored[identity], date=date)

    return change


def edited(**files: bytes) -> Callable[[Stage], object]:
    return lambda stage: stage.workspace.edit({path.replace("__", "/"): text for path, text in files.items()})


def other_tools(stage: Stage) -> None:
    stage.toolchains = OtherCompiler(stage.workspace, gate=stage.gate)


def other_benchmark(**changes: object) -> Callable[[Stage], None]:
    def change(stage: Stage) -> None:
        benchmark = stage.library.given_protocol.targets["cpu"].benchmark
        assert benchmark is not None
        stage.library.given_protocol = with_control(stage, benchmark.control, **changes)

    return change


def other_share(stage: Stage) -> None:
    stage.library.given_protocol = with_control(stage, Control(patch=PATCH, slower_percent=4.0))


def other_keep(stage: Stage) -> None:
    stage.library.given_protocol = replace(stage.library.given_protocol, keep=KeepRule(worthwhile_percent=0.6, blind_percent=0))


CHANGES: dict[str, tuple[Callable[[Stage], object], bool]] = {
    "nothing": (lambda _stage: None, False),
    "earlier today": (dated("2026-03-01T00:00:00Z"), False),
    "the second before midnight": (dated("2026-02-28T23:59:59Z"), True),
    "another harness": (edited(bench__run=b"another"), True),
    "another control patch": (edited(controls__slower=patch_to("slow 1050001")), True),
    "another compiler": (other_tools, True),
    "other iterations": (other_benchmark(iterations=11), True),
    "another command": (other_benchmark(argv=("run", "--quick")), True),
    "another share": (other_share, True),
    "another limit of the verdict": (other_keep, False),
    "another kernel": (edited(src__kernel=b"slow 1000000 "), False),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_makes_it_due_again(name: str) -> None:
    change, due = CHANGES[name]
    stage = staged()
    run_experiment(stage.context(), "P1")
    change(stage)
    stage.queue("P2", "slow 1200000")
    record = run_experiment(stage.context(), "P2").record
    assert record.control is not None
    assert len(control_lines(stage)) == 1 + due


def test_another_machine_sees_it_again_and_the_first_one_does_not() -> None:
    stage = staged()
    run_experiment(stage.context(), "P1")

    def on(machine: Mapping[str, str], id: str) -> Context:
        stage.queue(id, f"slow 1{id[1:]}00000")
        return replace(stage.context(), machine=machine)

    for id, machine, shown in (("P2", "other", 2), ("P3", "other", 2), ("P4", "fake", 2)):
        run_experiment(on({"machine": machine}, id), id)
        assert len(control_lines(stage)) == shown


def test_after_a_keep_of_the_same_day_it_is_not_shown_although_it_would_fail() -> None:
    stage = staged()
    stage.queue("P2", "slow 900000")
    stage.queue("P3", "slow 950000")
    assert run_experiment(stage.context(), "P2").record.verdict is Verdict.KEEP
    assert run_experiment(stage.context(), "P3").record.verdict is Verdict.REJECT
    dated("2026-02-27T12:00:00Z")(stage)
    with refuses("control-failed", ControlFailed):
        run_experiment(stage.context(), "P1")


# ------------------------------------------------------------------ --again and --extend


def test_a_failing_control_with_again_leaves_the_record_and_the_mended_one_replicates() -> None:
    stage = staged()
    first = run_experiment(stage.context(), "P1").record
    stage.controls.stored.clear()
    stage.steps = Exchanged(gate=stage.gate)
    head = stage.workspace.head()
    with refuses("control-failed", ControlFailed):
        run_experiment(stage.context(), "P1", again=True)
    assert stage.workspace.head() == head
    assert stage.library.record(head, "P1") == first
    stage.steps = FakeSteps(gate=stage.gate)
    assert len(run_experiment(stage.context(), "P1", again=True).record.replications) == 1


@dataclass
class NoisyRounds(NoisySteps):
    """Noisy with the candidate and regular with the stand-in; `swaps` exchanges the roles of both."""

    swaps: bool = False

    def measure(self, *words: object, **named: object) -> tuple[Sample, ...] | Failed:
        paths = named["artifacts"]
        assert isinstance(paths, Mapping)
        if not any("slow_1050000" in str(paths[side][0]) for side in Side):
            return super().measure(*words, **named)  # type: ignore[arg-type]
        if self.swaps:
            named["artifacts"] = {Side.BASELINE: paths[Side.CANDIDATE], Side.CANDIDATE: paths[Side.BASELINE]}
        return FakeSteps.measure(self, *words, **named)  # type: ignore[arg-type]


def test_a_failing_control_with_extend_decides_nothing_and_the_mended_one_goes_on() -> None:
    steps = NoisyRounds()
    stage = staged(steps)
    stage.queue("P2", "slow 999999")
    undecided = run_experiment(stage.context(), "P2").record
    assert (undecided.verdict, undecided.procedure and undecided.procedure.search_rounds) == (Verdict.INCONCLUSIVE, WILD)
    stage.controls.stored.clear()
    steps.swaps, head = True, stage.workspace.head()
    with refuses("control-failed", ControlFailed):
        run_experiment(stage.context(), "P2", extend=True)
    assert stage.workspace.head() == head
    assert not stage.workspace.check_outs
    steps.swaps = False
    extended = run_experiment(stage.context(), "P2", extend=True).record
    assert extended.verdict is Verdict.KEEP
    assert extended.control is not None
