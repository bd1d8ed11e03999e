"""More of controls and blind slots in a queue, kept from whoever mends them."""

from collections.abc import Iterator

import pytest

from expctl.domain.errors import ControlFailed
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.history.blind import Truth
from expctl.domain.verdict.samples import Side
from expctl.flow.autopilot.blind_slot import blind_slot, run_blind
from expctl.flow.autopilot.budget import Budget
from expctl.flow.autopilot.run_all import run_all
from tests.fakes.stage import Stage
from tests.flow.autopilot.test_blind_slot import given, slots
from tests.flow.autopilot.test_run_all import go, nobody, said
from tests.flow.measuring.test_control import Exchanged, control_lines
from tests.refusals import refuses


def queue(percent: float, *kernels: str) -> Stage:
    stage = given(Stage(), percent=percent, control="slow 1050000")
    for number, kernel in enumerate(kernels, start=1):
        stage.queue(f"P{number}", kernel)
    return stage


def test_a_control_that_fails_on_the_next_day_ends_the_queue_between_two_experiments() -> None:
    stage = queue(0, "slow 1100000", "slow 1200000", "slow 1300000")
    steps = run_all(stage.context(), target="", budget=Budget(), ask=nobody, pause=lambda _: None)
    assert said(next(steps)) == "P1 REJECT"
    stage.controls.stored.clear()
    stage.steps.measure = Exchanged(gate=stage.gate).measure  # type: ignore[method-assign]
    head = stage.workspace.head()
    with refuses("control-failed", ControlFailed):
        list(steps)
    assert stage.workspace.head() == head
    assert {id for id, verdict in stage.library.experiments(head).items() if verdict is None} == {"P2", "P3"}


def test_a_queue_shows_the_control_once_for_blind_slots_and_experiments() -> None:
    stage = queue(100, "slow 1100000", "slow 1200000")
    turns: Iterator[float] = iter([0.5, 0.1, 0.5, 0.9])
    assert go(stage, chance=lambda: next(turns)) == ["blind slow REJECT", "P1 REJECT", "blind null REJECT", "P2 REJECT"]
    assert len(control_lines(stage)) == 1


@pytest.mark.parametrize(("chance", "truth"), [(0.1, Truth.SLOW), (0.9, Truth.NULL)])
def test_the_candidate_takes_the_next_layout_whichever_it_is(chance: float, truth: Truth) -> None:
    stage = given(Stage(), control="slow 1050000", layouts=4)
    assert blind_slot(stage.context(), target="", chance=lambda: chance).truth is truth
    builds = 2 if truth is Truth.SLOW else 1
    rounds = [each for each in stage.steps.timed if len({str(each[side][0].parent) for side in Side}) == builds]
    assert len(rounds) >= 3
    for artifacts in rounds[-3:]:
        names = {side: [path.name for path in artifacts[side]] for side in Side}
        assert len(names[Side.BASELINE]) == 4
        assert all(one != other for one, other in zip(names[Side.BASELINE], names[Side.CANDIDATE], strict=True))
        assert sorted(names[Side.BASELINE]) == sorted(names[Side.CANDIDATE])


def test_a_target_without_a_control_has_nulls_alone() -> None:
    stage = given(Stage(), control="slow 1050000")
    found = list(run_blind(stage.context(), count=3, target="other", chance=lambda: 0.1))
    assert [(each.target, each.truth) for each in found] == [("other", Truth.NULL)] * 3
    assert control_lines(stage) == []
    assert {each.verdict for each in slots(stage)} <= {Verdict.REJECT, Verdict.INCONCLUSIVE}
