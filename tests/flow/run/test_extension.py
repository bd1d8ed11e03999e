"""`run ID --extend`: an undecided experiment goes on with the samples it has, or says why it can't."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from expctl.adapters.codec.record_codec import samples_of
from expctl.domain.errors import Interrupted
from expctl.domain.experiment.noise import Calibrated, Noise
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import Artifact
from expctl.domain.protocol.boundaries import EXTENDED_ROUNDS
from expctl.domain.protocol.model import Benchmark
from expctl.domain.run.events import Measured
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.decide_again import replayed
from expctl.domain.verdict.samples import Sample, Session, Side
from expctl.flow.run.experiment import run_experiment
from tests.fakes.run import Crash
from tests.fakes.stage import BENCHMARK, PROTOCOL, Stage
from tests.fakes.undecided import WILD, NoisySteps, Undecided
from tests.refusals import refuses


def test_a_gain_that_shows_with_more_rounds_is_kept_and_lands() -> None:
    undecided = Undecided()
    stage, before = undecided.stage, undecided.record
    tested = list(stage.steps.tested)
    outcome = undecided.run(extend=True)
    record = outcome.record
    assert (record.verdict, outcome.measured) == (Verdict.KEEP, True), record.reasons
    assert stage.kernel() == "slow 999999"
    assert stage.workspace.parent(stage.workspace.head()) == record.candidate
    assert stage.workspace.commits[record.candidate].parent == undecided.head
    assert (record.content, record.attempts) == (before.content, before.attempts)
    assert (record.test, record.guard_tests) == (before.test, before.guard_tests)
    assert stage.steps.tested == tested, "the same builds passed their tests"
    assert record.procedure is not None
    assert before.procedure is not None
    assert (before.procedure.extended, record.procedure.extended) == (False, True)
    assert record.procedure.search_rounds > before.procedure.search_rounds == WILD
    assert undecided.file("samples.jsonl").startswith(undecided.file("samples.jsonl", undecided.head))
    assert b"P1 KEEP" in stage.workspace.commits[outcome.head_after].files["ledger.md"]
    rounds = [sample.round for sample in samples_of(undecided.file("samples.jsonl"), where="")]
    assert sorted(set(rounds)) == list(range(record.procedure.search_rounds + record.procedure.confirm_rounds))
    assert stage.journal.unfinished() == ()


def test_a_loss_that_shows_with_more_rounds_is_rejected_and_leaves_a_rule() -> None:
    undecided = Undecided()
    undecided.steps.gain = -0.01
    record = undecided.run(extend=True).record
    assert (record.verdict, undecided.stage.kernel()) == (Verdict.REJECT, "slow 1000000")
    assert record.rule is not None


def test_a_replay_reproduces_the_extended_verdict_and_the_one_before() -> None:
    undecided = Undecided()
    extended = undecided.run(extend=True).record
    for record, commit in ((undecided.record, undecided.head), (extended, "")):
        assert record.procedure is not None
        samples = samples_of(undecided.file("samples.jsonl", commit), where="")
        again = replayed(record.procedure, Kind.PERF, samples, BENCHMARK, PROTOCOL.keep)
        told = {"verdict": record.verdict, "reasons": record.reasons, "estimates": record.estimates}
        assert dict(again.parts) == {**told, "procedure": record.procedure, "times": record.times}


def test_it_goes_to_the_end_once() -> None:
    undecided = Undecided()
    undecided.steps.gain, undecided.steps.scatter = 0.0025, 0.02
    stage = undecided.stage
    always = undecided.steps.measure

    def noisy(benchmark: Benchmark, **parts: object) -> tuple[Sample, ...] | Failed:
        samples = always(benchmark, **parts)  # type: ignore[arg-type]
        assert not isinstance(samples, Failed)
        sign = 0.02 if samples[0].round % 2 else -0.02
        return tuple(
            replace(each, ns=tuple(int(ns * (1 + sign)) for ns in each.ns)) if each.side is Side.CANDIDATE else each
            for each in samples
        )

    stage.steps.measure = noisy  # type: ignore[method-assign]
    record = undecided.run(extend=True).record
    assert record.verdict is Verdict.INCONCLUSIVE, record.reasons
    assert record.procedure is not None
    assert (record.procedure.search_rounds, record.procedure.extended) == (EXTENDED_ROUNDS, True)
    head, measured = stage.workspace.head(), len(stage.steps.measured)
    again = undecided.run(extend=True)
    assert (again.measured, again.record, stage.workspace.head()) == (False, record, head)
    assert len(stage.steps.measured) == measured


def test_what_was_measured_before_is_not_measured_again() -> None:
    undecided = Undecided()
    undecided.run(extend=True)
    assert undecided.stage.steps.measured == list(range(len(undecided.stage.steps.measured)))


def test_the_plan_is_that_of_the_first_run() -> None:
    """Neither a newer calibration nor other simplifications change it."""
    undecided = Undecided()
    assert undecided.record.procedure is not None
    calibrated = Calibrated(date="2026-03-01T00:00:00Z", rounds=24, noise={"objective": Noise(sd_percent=0.2)})
    undecided.edit_record(procedure=replace(undecided.record.procedure, calibrated=calibrated, simplify_used_percent=0.2))
    procedure = undecided.run(extend=True).record.procedure
    assert procedure is not None
    assert (procedure.calibrated, procedure.simplify_used_percent) == (calibrated, 0.2)


def test_replications_stay_beside_the_new_verdict() -> None:
    undecided = Undecided()
    undecided.run(again=True)
    again = undecided.file("samples-2.jsonl")
    record = undecided.run(extend=True).record
    assert (record.verdict, len(record.replications)) == (Verdict.KEEP, 1)
    assert undecided.file("samples-2.jsonl") == again
    assert len(samples_of(undecided.file("samples.jsonl"), where="")) > len(samples_of(again, where=""))


def other_machine(undecided: Undecided) -> None:
    undecided.edit_record(environment={**undecided.record.environment, "machine": "another"})


def other_device(undecided: Undecided) -> None:
    undecided.stage.device = "the next one"


def other_compiler(undecided: Undecided) -> None:
    undecided.edit_record(environment={**undecided.record.environment, "cc": "2.0"})


def other_kernel(undecided: Undecided) -> None:
    undecided.head = undecided.stage.workspace.edit({"src/kernel": b"slow 1000000 # moved"})


def other_harness(undecided: Undecided) -> None:
    undecided.head = undecided.stage.workspace.edit({"bench/run": b"b2"})


def other_protocol(undecided: Undecided) -> None:
    undecided.head = undecided.stage.workspace.edit({"protocol.yaml": b"q"})


def other_build(undecided: Undecided) -> None:
    built = undecided.record.artifacts
    other = Artifact(sha256="f" * 64, code="other")
    undecided.edit_record(artifacts={**built, Side.BASELINE.value: {**built[Side.BASELINE.value], "cpu": other}})


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (other_machine, "machine another -> fake"),
        (other_device, "device this machine -> the next one"),
        (other_compiler, "compiler cc 2.0 -> cc 1.0"),
        (other_kernel, "src on main since"),
        (other_harness, "bench on main since"),
        (other_protocol, "protocol.yaml on main since"),
        (other_build, "build of the baseline for cpu ffffffff -> "),
    ],
)
def test_under_other_conditions_it_is_refused_and_nothing_changes(change: Callable[[Undecided], None], found: str) -> None:
    undecided = Undecided()
    change(undecided)
    measured = len(undecided.stage.steps.measured)
    with refuses("extension-not-comparable") as refused:
        undecided.run(extend=True)
    assert found in refused.value.found
    assert len(undecided.stage.steps.measured) == measured
    undecided.stands()


def test_a_candidate_that_builds_no_more_is_refused_and_not_rejected() -> None:
    undecided = Undecided()
    undecided.stage.toolchains.refuses["cpu", "999999"] = "syntax"
    with refuses("extension-not-comparable"):
        undecided.run(extend=True)
    undecided.stands()


def test_another_target_is_a_replication_and_no_extension() -> None:
    undecided = Undecided()
    with refuses("extension-not-comparable"):
        undecided.run(extend=True, target="other")
    undecided.stands()


@pytest.mark.parametrize("kernel", ["slow 900000", "slow 1100000"])
def test_only_what_samples_left_undecided_can_go_on(kernel: str) -> None:
    stage = Stage()
    stage.queue("P1", kernel)
    with refuses("not-extendable"):
        run_experiment(stage.context(), "P1", extend=True)
    run_experiment(stage.context(), "P1")
    with refuses("not-extendable"):
        run_experiment(stage.context(), "P1", extend=True)


def test_a_record_of_an_older_rule_can_not_go_on() -> None:
    undecided = Undecided()
    assert undecided.record.procedure is not None
    undecided.edit_record(procedure=replace(undecided.record.procedure, boundaries="1"))
    with refuses("not-extendable"):
        undecided.run(extend=True)


def test_a_benchmark_that_fails_leaves_the_record_undecided() -> None:
    undecided = Undecided()
    undecided.stage.steps.fails_measure = [None, Failed(reason="no device", fault=True)]
    with refuses("extension-invalid") as refused:
        undecided.run(extend=True)
    assert "no device" in refused.value.found
    undecided.stands()
    assert undecided.run(extend=True).record.verdict is Verdict.KEEP


def events_of_an_extension() -> int:
    undecided = Undecided()
    before = undecided.stage.journal.appends
    undecided.run(extend=True)
    return undecided.stage.journal.appends - before


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("extend", [False, True])
def test_a_crash_at_any_event_loses_nothing(before: bool, extend: bool) -> None:
    """A killed `run --extend` is resumed by `run --extend` and by a plain `run`."""
    count = events_of_an_extension()
    for number in (1, 2, 5, 9, 10, count - 2, count - 1, count):
        undecided = Undecided()
        stage = undecided.stage
        stage.journal.crash_at, stage.journal.crash_before = stage.journal.appends + number, before
        with pytest.raises(Crash):
            undecided.run(extend=True)
        begun = bool(stage.journal.events.get("P1"))
        outcome = undecided.run(extend=extend or not begun)
        assert outcome.record.verdict is Verdict.KEEP, (number, outcome.record.reasons)
        assert stage.kernel() == "slow 999999"
        assert stage.journal.unfinished() == ()
        samples = samples_of(undecided.file("samples.jsonl"), where="")
        assert len({(each.round, each.launch) for each in samples}) == len(samples)
        assert samples[: 4 * WILD] == samples_of(undecided.file("samples.jsonl", undecided.head), where="")


def test_it_stops_when_asked_and_goes_on_from_there() -> None:
    undecided = Undecided()
    undecided.stage.stops_after = 12
    with pytest.raises(Interrupted):
        undecided.run(extend=True)
    done = sum(isinstance(event, Measured) for event in undecided.stage.journal.read("P1"))
    assert done
    undecided.stage.stops_after = -1
    assert undecided.run().record.verdict is Verdict.KEEP
    assert undecided.stage.steps.measured == list(range(len(undecided.stage.steps.measured)))


def test_a_confirmation_that_was_left_open_goes_on_as_one() -> None:
    """A search that finds a gain in three rounds, 70 wild rounds of a confirmation, and then a clear gain."""
    stage = Stage(steps=NoisySteps(gain=0.0))
    stage.queue("P1", "slow 999999")
    plain = stage.steps.measure

    def unsteady(benchmark: Benchmark, *, round: int, **parts: Any) -> tuple[Sample, ...] | Failed:
        found = plain(benchmark, round=100 + round, **parts)
        assert not isinstance(found, Failed)
        wild = 0.02 if (round - 3) // 2 % 2 else -0.02
        slower = -0.01 if round < 3 else wild if round < 73 else -0.015
        return tuple(
            replace(each, round=round, ns=tuple(int(ns * (1 + slower)) for ns in each.ns))
            if each.side is Side.CANDIDATE
            else replace(each, round=round)
            for each in found
        )

    stage.steps.measure = unsteady  # type: ignore[method-assign]
    before = run_experiment(stage.context(), "P1").record
    assert (before.verdict, before.extendable) == (Verdict.INCONCLUSIVE, True), before.reasons
    assert before.reasons[0].startswith("not confirmed")
    record = run_experiment(stage.context(), "P1", extend=True).record
    assert record.verdict is Verdict.KEEP, record.reasons
    assert record.procedure is not None
    assert (record.procedure.looks, record.procedure.search_rounds) == ((3,), 3)
    assert 70 < record.procedure.confirm_rounds <= EXTENDED_ROUNDS
    files = stage.workspace.commits[stage.workspace.head()].files
    samples = samples_of(files["experiments/P1/samples.jsonl"], where="")
    assert {each.session for each in samples if each.round > 72} == {Session.CONFIRM}
