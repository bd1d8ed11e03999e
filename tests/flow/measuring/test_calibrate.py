"""Calibrating in a world of fakes: what is kept, what is refused, and what a run makes of it."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from expctl.adapters.codec.record_codec import samples_of, with_parts
from expctl.domain.errors import Busy, Interrupted
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.protocol.model import Calibrate
from expctl.domain.run.events import Begun
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.calibration import Calibration
from expctl.domain.verdict.decide_again import UnplayableError, replayed
from expctl.domain.verdict.side import Side
from expctl.flow.measuring.calibrate import calibrate
from expctl.flow.measuring.noise_line import age, noise_line
from expctl.flow.run.experiment import run_experiment
from tests.fakes.run import Crash
from tests.fakes.stage import BENCHMARK, PROTOCOL, Stage
from tests.refusals import refuses

NCU = ("ncu matches ncu",)
REQUIRED = replace(
    PROTOCOL,
    targets={
        **PROTOCOL.targets,
        "cpu": replace(PROTOCOL.targets["cpu"], benchmark=replace(BENCHMARK, calibrate=Calibrate.REQUIRED)),
    },
)


LAYOUTS = replace(
    PROTOCOL,
    targets={**PROTOCOL.targets, "cpu": replace(PROTOCOL.targets["cpu"], benchmark=replace(BENCHMARK, layouts=3))},
)


def staged(kernel: str = "slow 900000") -> Stage:
    stage = Stage()
    stage.queue("P1", kernel)
    return stage


def noise_lines(stage: Stage) -> list[str]:
    return [line for line in stage.progress.lines if line.startswith("noise ")]


def untouched(stage: Stage, refs: dict[str, str]) -> bool:
    return (
        stage.workspace.refs == refs
        and not stage.workspace.check_outs
        and not (stage.locks.held or stage.gate.held)
        and stage.journal.events == {}
    )


def test_the_sides_of_a_calibration_take_different_layouts_and_all_of_them() -> None:
    stage = staged()
    stage.library.given_protocol = LAYOUTS
    calibrate(stage.context(), rounds=4)
    for timed in stage.steps.timed:
        names = [[path.name for path in timed[side]] for side in Side]
        assert names == [["kernel.so", "layout-1", "layout-2"], ["layout-1", "layout-2", "kernel.so"]]
    assert len(stage.steps.timed) == 4


def test_the_sides_of_a_run_take_the_same_layout() -> None:
    stage = staged()
    stage.library.given_protocol = LAYOUTS
    run_experiment(stage.context(), "P1")
    assert stage.steps.timed
    for timed in stage.steps.timed:
        names = [[path.name for path in timed[side]] for side in Side]
        assert names == [["kernel.so", "layout-1", "layout-2"]] * 2


def test_head_is_measured_against_itself_and_nothing_is_committed() -> None:
    stage = staged()
    refs = dict(stage.workspace.refs)
    stored = calibrate(stage.context(), rounds=7)
    found = stored.calibration
    assert stage.calibrations.stored == {"cpu": found}
    assert (found.rounds, found.tainted, found.base, found.target) == (7, 0, stage.workspace.head(), "cpu")
    assert list(found.noise) == ["objective", "n"]
    assert found.noise["n"].mean_percent == pytest.approx(0.0, abs=1e-4)
    assert stage.steps.measured == list(range(7))
    assert stage.toolchains.builds == [("cpu", "slow 1000000")]
    assert (stage.gate.holds, stage.locks.holder.steps) == (1, ["measure"])
    assert untouched(stage, refs)


def test_another_target_may_be_wanted() -> None:
    stage = staged()
    assert calibrate(stage.context(), target="other", rounds=5).calibration.target == "other"
    with refuses("target-does-not-decide"):
        calibrate(stage.context(), target="guard")


def test_a_tainted_round_is_measured_again() -> None:
    stage = staged()
    stage.steps.taints = [(), NCU]
    found = calibrate(stage.context(), rounds=5).calibration
    assert (found.rounds, found.tainted, len(stage.steps.measured)) == (5, 1, 6)


def test_a_machine_that_taints_more_than_a_quarter_is_busy() -> None:
    stage = staged()
    refs = dict(stage.workspace.refs)
    stage.steps.taints = [NCU] * 3
    with refuses("calibration-not-quiet", Busy) as caught:
        calibrate(stage.context())
    assert caught.value.found == "3 of 3 rounds were disturbed (ncu matches ncu)"
    assert stage.calibrations.stored == {}
    assert untouched(stage, refs)


def no_build(stage: Stage) -> None:
    stage.toolchains.refuses["cpu", "slow"] = "syntax"


def no_benchmark(stage: Stage) -> None:
    stage.steps.fails_measure = [None, Failed(reason="no device", fault=True)]


@pytest.mark.parametrize(
    ("prepare", "code", "found"),
    [(no_build, "baseline-does-not-build", "syntax"), (no_benchmark, "benchmark-failed", "no device")],
)
def test_what_cannot_be_measured_is_refused(prepare: Callable[[Stage], None], code: str, found: str) -> None:
    stage = staged()
    refs = dict(stage.workspace.refs)
    prepare(stage)
    with refuses(code) as caught:
        calibrate(stage.context())
    assert caught.value.found == found
    assert caught.value.hint
    assert stage.calibrations.stored == {}
    assert untouched(stage, refs)


def test_a_request_to_stop_ends_after_the_round_and_keeps_nothing() -> None:
    stage = staged()
    refs = dict(stage.workspace.refs)
    stage.stops_after = 3
    with pytest.raises(Interrupted, match="stopped after round 4 of a calibration"):
        calibrate(stage.context())
    assert stage.calibrations.stored == {}
    assert untouched(stage, refs)


def test_a_held_repository_is_busy() -> None:
    stage = staged()
    stage.locks.taken = True
    with pytest.raises(Busy):
        calibrate(stage.context())
    assert stage.steps.measured == []


# ------------------------------------------------------------------ what a run makes of it


def test_a_run_without_a_calibration_says_what_one_would_take_and_goes_on() -> None:
    stage = staged()
    assert run_experiment(stage.context(), "P1").record.verdict is Verdict.KEEP
    (line,) = noise_lines(stage)
    assert line.startswith("noise not calibrated here: expctl calibrate measures the noise of this machine (about 24 s)")


def test_a_run_says_what_it_can_detect_and_keeps_it_in_the_record() -> None:
    stage = staged()
    stored = calibrate(stage.context()).calibration
    record = run_experiment(stage.context(), "P1").record
    (line,) = noise_lines(stage)
    assert line.startswith("noise calibrated just now: sd of a round 0.00 %, detects 0.0")
    assert record.verdict is Verdict.KEEP
    assert record.procedure is not None
    assert record.procedure.calibrated == stored.fixed()


def test_an_unusable_file_is_told_and_not_used() -> None:
    stage = staged()
    stage.calibrations.unusable = "/state/cpu.json is damaged"
    record = run_experiment(stage.context(), "P1").record
    assert noise_lines(stage)[0].startswith("noise the stored calibration is not used: /state/cpu.json is damaged")
    assert record.procedure is not None
    assert record.procedure.calibrated is None


def test_where_the_protocol_requires_it_a_run_calibrates_first_and_only_once() -> None:
    stage = staged()
    stage.library.given_protocol = REQUIRED
    record = run_experiment(stage.context(), "P1").record
    assert stage.steps.measured == [*range(24), *range(9)]
    assert record.procedure is not None
    assert record.procedure.calibrated == stage.calibrations.stored["cpu"].fixed()
    assert noise_lines(stage)[0].startswith("noise protocol.yaml requires a calibration of cpu: 24 rounds first")
    stage.queue("P2", "slow 800000")
    run_experiment(stage.context(), "P2")
    assert stage.steps.measured == [*range(24), *range(9), *range(9)]


def test_a_run_that_is_stopped_while_it_calibrates_has_not_begun() -> None:
    stage = staged()
    stage.library.given_protocol = REQUIRED
    stage.stops_after = 2
    refs = dict(stage.workspace.refs)
    with pytest.raises(Interrupted, match="the same command starts over"):
        run_experiment(stage.context(), "P1")
    assert untouched(stage, refs)
    assert run_experiment(stage.context(), "P1").record.verdict is Verdict.KEEP


def test_a_resumed_run_keeps_to_the_calibration_that_it_began_with() -> None:
    stage = staged()
    first = calibrate(stage.context(), rounds=5).calibration
    stage.journal.crash_at = 10
    with pytest.raises(Crash):
        run_experiment(stage.context(), "P1")
    assert calibrate(stage.context(), rounds=8).calibration != first
    begun = stage.journal.read("P1")[0]
    assert isinstance(begun, Begun)
    assert begun.calibrated == first.fixed()
    record = run_experiment(stage.context(), "P1").record
    assert record.procedure is not None
    assert record.procedure.calibrated == first.fixed()


def restless(stage: Stage, spread_percent: float) -> None:
    """Store a calibration by which the fake's rounds, whose iterations differ by 0.03 % at most, spread this much."""
    found = calibrate(stage.context(), rounds=5).calibration
    quiet = {name: replace(each, spread_percent=spread_percent if name == "n" else 0.0) for name, each in found.noise.items()}
    stage.calibrations.stored["cpu"] = replace(found, noise=quiet)


@pytest.mark.parametrize(("spread_percent", "verdict"), [(0.0001, Verdict.INVALID), (1.0, Verdict.KEEP)])
def test_a_run_replays_byte_for_byte_with_the_calibration_of_its_record(spread_percent: float, verdict: Verdict) -> None:
    stage = staged()
    restless(stage, spread_percent)
    record = run_experiment(stage.context(), "P1").record
    assert record.verdict is verdict
    files = stage.workspace.commits[stage.workspace.head()].files
    text, samples = files["experiments/P1/record.json"], samples_of(files["experiments/P1/samples.jsonl"], where="samples")
    assert record.procedure is not None
    again = replayed(record.procedure, record.kind, samples, BENCHMARK, PROTOCOL.keep)
    assert with_parts(text, again.parts) == text
    if verdict is Verdict.INVALID:
        assert record.reasons[0].startswith("unstable: n spread more than 4 times its calibrated 0.0001 % within a side")
        without = replace(record.procedure, calibrated=None)
        with pytest.raises(UnplayableError, match="too few to decide"):
            replayed(without, record.kind, samples, BENCHMARK, PROTOCOL.keep)


# ------------------------------------------------------------------ words


def test_the_line_of_a_run() -> None:
    stage = staged()
    found = calibrate(stage.context(), rounds=5).calibration
    noise = {name: replace(each, sd_percent=0.31) for name, each in found.noise.items()}
    known: Calibration = replace(found, noise=noise, date="2026-03-01T00:00:00Z")
    assert noise_line(known.fixed(), now="2026-03-03T11:00:00Z", round_s=1.0) == (
        "calibrated 2 days ago from 5 rounds only: sd of a round 0.31 %, detects 0.41 % in 10 rounds, 0.22 % in 36"
    )
    assert noise_line(replace(known, rounds=24).fixed(), now="2026-03-01T01:30:00Z", round_s=1.0).startswith(
        "calibrated 1 hour ago: sd of a round 0.31 %"
    )
    assert noise_line(None, now="", round_s=2.54).endswith("(about 61 s)")


@pytest.mark.parametrize(
    ("then", "now", "words"),
    [
        ("2026-03-01T00:00:00Z", "2026-03-01T00:00:59Z", "just now"),
        ("2026-03-01T00:00:00Z", "2026-03-01T00:01:00Z", "1 minute ago"),
        ("2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z", "28 days ago"),
        ("2026-03-02T00:00:00Z", "2026-03-01T00:00:00Z", "just now"),
        ("yesterday", "2026-03-01T00:00:00Z", "on yesterday"),
        ("2026-03-01", "2026-03-01T00:00:00Z", "on 2026-03-01"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(then: str, now: str, words: str) -> None:
    assert age(then, now) == words
