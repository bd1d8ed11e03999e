"""Blind slots by themselves: what is drawn, what is told to whom, and what is committed."""

from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace

from expctl.adapters.codec.record_codec import samples_of
from expctl.domain.errors import Interrupted
from expctl.domain.experiment.control_result import ControlResult, StandInEffect
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.history.blind import BlindSlot, Truth
from expctl.domain.protocol.model import Control, KeepRule, Protocol
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Sample, Side
from expctl.flow.autopilot.blind_slot import BlindOutcome, blind_slot, run_blind
from expctl.flow.autopilot.budget import Budget
from expctl.flow.autopilot.run_all import run_all
from expctl.flow.repository.ledger_inputs import read_ledger
from tests.fakes.measuring import FakeControls, FakeSteps
from tests.fakes.stage import BENCHMARK, PROTOCOL, Stage, patch_to
from tests.flow.autopilot.test_run_all import go, nobody, said
from tests.refusals import refuses

NULL, SLOW = 0.9, 0.1


def given(stage: Stage, *, control: str = "", layouts: int = 1, percent: float = 0, peak_tflops: float = 0) -> Stage:
    """The stage with a control, layouts or a share of blind slots in its protocol."""
    known = Control(patch="controls/slower") if control else None
    benchmark = replace(BENCHMARK, control=known, layouts=layouts, peak_tflops=peak_tflops)
    cpu = replace(PROTOCOL.targets["cpu"], benchmark=benchmark)
    protocol: Protocol = replace(PROTOCOL, targets={**PROTOCOL.targets, "cpu": cpu}, keep=KeepRule(blind_percent=percent))
    stage.library.given_protocol = protocol
    if control:
        stage.workspace.edit({"controls/slower": patch_to(control)})
    return stage


def shown(stage: Stage) -> Stage:
    """The stage on a day on which whatever control it has was passed."""
    seen = StandInEffect(effect_percent=0, low_percent=0, high_percent=0, rounds=3)
    stage.controls = Passed(ControlResult(date=stage.clock.date(), slower_percent=5, slower=seen, faster=seen))
    return stage


def one(stage: Stage, chance: float = NULL) -> BlindOutcome:
    return blind_slot(stage.context(), target="", chance=lambda: chance)


def slots(stage: Stage) -> tuple[BlindSlot, ...]:
    return stage.library.blind_slots(stage.workspace.head())


class Passed(FakeControls):
    """Answers every question with one control that was passed."""

    def __init__(self, passed: ControlResult) -> None:
        super().__init__()
        self._passed = passed

    def read(self, identity: str) -> ControlResult | None:
        assert identity
        return self._passed


class Partial(FakeSteps):
    """A harness that finds whatever is called the candidate faster."""

    def measure(self, *words: object, **named: object) -> tuple[Sample, ...] | Failed:
        found = super().measure(*words, **named)  # type: ignore[arg-type]
        if isinstance(found, Failed):
            return found
        return tuple(
            replace(each, ns=tuple(round(0.9 * ns) for ns in each.ns)) if each.side is Side.CANDIDATE else each
            for each in found
        )


def test_a_null_is_measured_judged_and_committed() -> None:
    stage = given(Stage())
    before = stage.workspace.head()
    outcome = one(stage)
    (slot,) = slots(stage)
    assert outcome.slot == slot
    assert (slot.truth, slot.verdict, slot.head, slot.target) == (Truth.NULL, Verdict.REJECT, before, "cpu")
    assert slot.artifacts[0] == slot.artifacts[1]
    assert stage.steps.tested == ["slow_1000000"]
    head = stage.workspace.head()
    assert outcome.commit == head
    assert stage.workspace.parent(head) == before
    changed = {file.path for file in stage.workspace.changed_files(before, head)}
    assert changed == {"experiments/blind.jsonl", slot.evidence, "ledger.md"}
    samples = samples_of(stage.workspace.commits[head].files[slot.evidence], where="samples")
    assert {sample.round for sample in samples} == set(range(slot.procedure.search_rounds))
    (rates,) = read_ledger(stage.library, head).blind
    assert (rates.nulls, rates.nulls_kept, rates.slow) == (1, 0, 0)
    assert stage.journal.events == {}
    assert stage.workspace.check_outs == set()


def test_a_planted_slow_down_is_the_control() -> None:
    stage = given(Stage(), control="slow 1050000")
    assert [one(stage, chance).truth for chance in (SLOW, NULL)] == [Truth.SLOW, Truth.NULL]
    slow, null = slots(stage)
    assert (slow.verdict, slow.slower_percent, null.slower_percent) == (Verdict.REJECT, 5.0, 0.0)
    assert slow.artifacts[0] != slow.artifacts[1]
    assert stage.kernel() == "slow 1000000"


def test_nothing_that_measures_is_told_which_of_the_two_it_is() -> None:
    """What is said and asked for differs by commits and builds alone."""
    said = []
    for chance in (SLOW, NULL):
        stage = shown(given(Stage(), control="slow 1050000"))
        stage.workspace.edit({"controls/slower": patch_to("slow 1000000 // the same speed")})
        stage.progress.lines.clear()
        one(stage, chance)
        lines = [line for line in stage.progress.lines if not line.startswith(("build...", "blind a blind slot"))]
        said.append((lines, stage.steps.timed, stage.steps.tested, stage.steps.measured))
    assert said[0] == said[1]


def test_a_control_that_changes_no_build_is_not_recorded() -> None:
    stage = shown(given(Stage(), control="slow 1050000"))
    stage.workspace.edit({"controls/slower": patch_to("slow 1000000")})
    outcome = one(stage, SLOW)
    assert (outcome.slot, outcome.note) == (None, "the control changes nothing in the build of cpu")
    assert slots(stage) == ()


def test_a_control_that_does_not_fit_leaves_a_null() -> None:
    stage = shown(given(Stage(), control="slow 1050000"))
    stage.workspace.edit({"controls/slower": b"no patch"})
    assert one(stage, SLOW).truth is Truth.NULL
    assert any(line.startswith("control not used: ") for line in stage.progress.lines)


def test_sides_never_share_a_layout() -> None:
    stage = given(Stage(), layouts=3)
    one(stage)
    for artifacts in stage.steps.timed:
        names = [[path.name for path in artifacts[side]] for side in Side]
        assert names == [["kernel.so", "layout-1", "layout-2"], ["layout-1", "layout-2", "kernel.so"]]


def test_a_false_keep_lands_nothing_is_counted_and_stops() -> None:
    stage = given(Stage(steps=Partial()))
    seen: list[BlindOutcome] = []
    with refuses("blind-slot-kept") as caught:
        seen.extend(run_blind(stage.context(), count=3, target="", chance=lambda: NULL))
    assert [slot.verdict for slot in slots(stage)] == [Verdict.KEEP]
    assert caught.value.where == "experiments/blind.jsonl, line 1, on cpu"
    assert "KEEP  objective +11.1" in caught.value.found
    assert stage.kernel() == "slow 1000000"
    (rates,) = read_ledger(stage.library, stage.workspace.head()).blind
    assert rates.false_keeps == (1,)


def test_a_false_keep_stops_the_queue_which_goes_on_when_it_is_asked_again() -> None:
    stage = given(Stage(steps=Partial()), percent=100)
    stage.queue("P1", "slow 1100000")
    with refuses("blind-slot-kept"):
        go(stage)
    stage.steps = FakeSteps(gate=stage.gate)
    assert go(stage) == ["blind null REJECT", "P1 REJECT"]
    assert len(slots(stage)) == 2


@pytest.mark.parametrize("fault", ["build", "test", "benchmark", "taints", "faster than the peak"])
def test_an_invalid_one_is_not_recorded(fault: str) -> None:
    stage = given(Stage())
    match fault:
        case "build":
            stage.toolchains.refuses[("cpu", "slow 1000000")] = "no compiler"
        case "test":
            stage.steps.fails_test["slow_1000000"] = Failed(reason="wrong")
        case "benchmark":
            stage.steps.fails_measure = [None, Failed(reason="no device", fault=True)]
        case "taints":
            stage.steps.taints = [("somebody",)] * 4
        case "faster than the peak":
            given(stage, peak_tflops=1e-9)
    before = stage.workspace.head()
    outcome = one(stage)
    assert outcome.slot is None
    assert outcome.note
    assert stage.workspace.head() == before


def test_a_stop_leaves_nothing() -> None:
    stage = given(Stage())
    stage.stops_after = 1
    before = stage.workspace.head()
    with pytest.raises(Interrupted, match="of a comparison"):
        one(stage)
    assert stage.workspace.head() == before
    assert stage.workspace.check_outs == set()


def test_a_stop_between_two_slots_keeps_the_first() -> None:
    stage = given(Stage())
    steps = run_blind(stage.context(), count=2, target="", chance=lambda: NULL)
    assert next(steps).number == 1
    stage.stops_after = 0
    with pytest.raises(Interrupted, match="before blind slot 2 of 2"):
        next(steps)
    assert len(slots(stage)) == 1


def test_where_the_user_commits_meanwhile_the_slot_is_added_to_that() -> None:
    stage = given(Stage())
    one(stage)
    measured = stage.workspace.head()
    users = stage.workspace.edit({"notes": b"mine"})
    stage.workspace.refs["refs/heads/main"] = measured
    stage.workspace.move_before_publishing = [users]
    assert one(stage).number == 2
    assert stage.workspace.parent(stage.workspace.head()) == users
    assert [slot.head for slot in slots(stage)][1] == measured
    assert stage.workspace.commits[stage.workspace.head()].files["notes"] == b"mine"


@pytest.mark.parametrize("path", ["experiments/blind.jsonl", "experiments/blind/0123.jsonl", "ledger.md", "src/kernel"])
def test_local_changes_are_never_written_over(path: str) -> None:
    stage = given(Stage())
    stage.workspace.local_changes = (path,)
    with refuses("scope-not-committed" if path == "src/kernel" else "own-files-not-committed"):
        one(stage)
    assert stage.steps.measured == []


# ------------------------------------------------------------------ in the queue


def drawing(*numbers: float) -> Callable[[], float]:
    left: Iterator[float] = iter(numbers)
    return lambda: next(left)


def queue_of_three(percent: float) -> Stage:
    stage = given(Stage(), percent=percent)
    for id, kernel in (("P1", "slow 900000"), ("P2", "slow 800000"), ("P3", "slow 700000")):
        stage.queue(id, kernel)
    return stage


def test_one_is_drawn_before_each_experiment() -> None:
    stage = queue_of_three(5)
    assert go(stage, chance=drawing(0.06, 0.04, 0.5)) == ["P1 KEEP", "blind null REJECT", "P2 KEEP", "P3 KEEP"]


def test_none_is_drawn_where_it_is_switched_off() -> None:
    assert go(queue_of_three(0), chance=lambda: 0.0) == ["P1 KEEP", "P2 KEEP", "P3 KEEP"]


def test_it_counts_against_no_budget_of_experiments() -> None:
    found = go(queue_of_three(100), Budget(experiments=2))
    assert found == ["blind null REJECT", "P1 KEEP", "blind null REJECT", "P2 KEEP"]


def test_what_was_drawn_stays_due_while_the_machine_is_busy() -> None:
    stage = queue_of_three(5)
    stage.gate.busy = True

    def pause(_: float) -> None:
        stage.gate.busy = False

    steps = run_all(
        stage.context(),
        target="",
        budget=Budget(experiments=1),
        ask=nobody,
        pause=pause,
        chance=drawing(0.01, 0.9, 0.9),
    )
    assert [said(step) for step in steps][:2] == ["blind null REJECT", "P1 KEEP"]


def test_an_empty_queue_draws_nothing() -> None:
    stage = given(Stage(), percent=100)
    assert go(stage) == []
    assert slots(stage) == ()
