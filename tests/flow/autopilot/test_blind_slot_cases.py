"""Blind slots in a queue, by docs/QUEUE.md: what is drawn and how often, what it costs, and what is said."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy
import pytest
from msgspec.structs import replace

from expctl.domain.errors import ControlFailed
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.history.blind import Truth, rates_text
from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.protocol.model import BurnInRule, Control, KeepRule, NumberKind
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Sample, Side
from expctl.flow.autopilot.blind_slot import blind_slot, run_blind
from expctl.flow.autopilot.budget import Budget
from expctl.flow.repository.ledger_inputs import read_ledger
from tests.fakes.measuring import FakeSteps
from tests.fakes.stage import Stage
from tests.fakes.workspace import FakeWorkspace
from tests.flow.autopilot.test_blind_slot import given, slots
from tests.flow.autopilot.test_run_all import go
from tests.refusals import refuses

DRAWS = 2000


class Patient(FakeWorkspace):
    """A repository that any number of commits is published to."""

    def publish(self, *, branch: str, old: str, new: str, captured: Sequence[str] = (), tree: str = "") -> bool:
        self.publications = 0
        return super().publish(branch=branch, old=old, new=new, captured=captured, tree=tree)


class Counted:
    """A seeded chance that keeps what it gave."""

    def __init__(self, seed: int) -> None:
        self._draw = numpy.random.default_rng(seed)
        self.given: list[float] = []

    def __call__(self) -> float:
        self.given.append(float(self._draw.random()))
        return self.given[-1]


def queued(count: int, percent: float, control: str = "") -> Stage:
    stage = given(Stage(workspace=Patient()), percent=percent, control=control)
    for number in range(1, count + 1):
        stage.queue(f"P{number}", f"slow {1_100_000 + 10_000 * number}")
    return stage


def without_compiler(stage: Stage) -> Stage:
    """Slots of it end at their build, which is quick."""
    stage.toolchains.refuses["cpu", "slow"] = "no compiler"
    return stage


# ------------------------------------------------------------------ which kind


def drawn(stage: Stage, chance: Callable[[], float], count: int) -> list[Truth]:
    context = stage.context()
    return [blind_slot(context, target="", chance=chance).truth for _ in range(count)]


@pytest.mark.parametrize("seed", [1, 2])
def test_half_of_the_slots_are_slow_downs(seed: int) -> None:
    truths = drawn(without_compiler(given(Stage(), control="slow 1050000")), Counted(seed), DRAWS // 2)
    slow = truths.count(Truth.SLOW)
    assert slow + truths.count(Truth.NULL) == DRAWS // 2
    assert abs(slow - DRAWS / 4) <= 3.5 * (DRAWS / 8) ** 0.5


def test_draws_follow_no_pattern() -> None:
    truths = drawn(without_compiler(given(Stage(), control="slow 1050000")), Counted(3), 400)
    changes = sum(one is not next for one, next in pairwise(truths))
    assert abs(changes - 199.5) <= 35


@pytest.mark.parametrize("control", ["", "no patch", "missing"])
def test_without_a_control_that_applies_every_slot_is_a_null(control: str) -> None:
    stage = without_compiler(given(Stage(), control="slow 1050000" if control else ""))
    if control:
        stage.workspace.edit({"controls/slower": b"no patch" if control == "no patch" else None})
    assert set(drawn(stage, Counted(4), 200)) == {Truth.NULL}


# ------------------------------------------------------------------ how often


@pytest.mark.parametrize(
    ("percent", "draws", "blind"),
    [
        (0, (0.0,), False),
        (5, (0.0,), True),
        (5, (0.0499,), True),
        (5, (0.0501,), False),
        (5, (0.9999,), False),
        (100, (0.999999,), True),
        (0.5, (0.0051,), False),
        (0.5, (0.0049,), True),
    ],
)
def test_the_share_of_the_protocol_is_the_chance_of_each_experiment(percent: float, draws: tuple[float], blind: bool) -> None:
    found = go(queued(1, percent), chance=lambda: draws[0])
    assert found == ["blind null REJECT"] * blind + ["P1 REJECT"]


@pytest.mark.parametrize(("percent", "seed"), [(0, 5), (5, 6), (5, 7), (30, 8), (100, 9)])
def test_a_queue_draws_once_for_each_experiment(percent: float, seed: int) -> None:
    chance = Counted(seed)
    found = go(queued(25, percent), chance=chance)
    blind = [line for line in found if line.startswith("blind")]
    assert [line for line in found if line not in blind] == [f"P{number} REJECT" for number in range(1, 26)]
    assert set(blind) <= {"blind null REJECT"}
    if percent:
        assert len(chance.given) == 25
        assert len(blind) == sum(each < percent / 100 for each in chance.given)
    else:
        assert blind == []


# ------------------------------------------------------------------ what it costs, and what is said


def test_it_takes_none_of_the_experiments_and_of_the_rejects() -> None:
    found = go(queued(5, 100), Budget(experiments=3))
    assert found == [line for number in (1, 2, 3) for line in ("blind null REJECT", f"P{number} REJECT")]
    assert go(queued(5, 100), Budget(rejects=2))[-1] == "P2 REJECT"


class Slow(FakeSteps):
    """Ten minutes for the three rounds of a search."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(gate=stage.gate)
        self._stage = stage

    def measure(self, *words: object, **named: object) -> tuple[Sample, ...] | Failed:
        self._stage.clock.now_s += 200
        return super().measure(*words, **named)  # type: ignore[arg-type]


def test_it_takes_time_of_the_hours() -> None:
    experiments = []
    for percent in (0, 100):
        stage = queued(12, percent)
        stage.steps = Slow(stage)
        experiments.append(sum(line.startswith("P") for line in go(stage, Budget(hours=1))))
    assert experiments[0] in (6, 7)
    assert experiments[1] in (3, 4)


def test_rates_after_twenty_nulls_and_as_many_slow_downs() -> None:
    stage = given(Stage(workspace=Patient()), control="slow 1050000")
    turns = iter([0.1, 0.9] * 20)
    outcomes = list(run_blind(stage.context(), count=40, target="", chance=lambda: next(turns)))
    assert [each.number for each in outcomes] == list(range(1, 41))
    last = outcomes[-1].rates
    assert last is not None
    assert rates_text(last) == "0 of 20 nulls kept (at most 13.9 %), 20 of 20 slow-downs not kept (at least 86.1 %)"
    assert read_ledger(stage.library, stage.workspace.head()).blind == (last,)
    assert {each.slower_percent for each in slots(stage) if each.truth is Truth.SLOW} == {5.0}


class Swapped(FakeSteps):
    """A harness that takes one build for the other, after the control of the day was passed."""

    def measure(self, *words: object, **named: object) -> tuple[Sample, ...] | Failed:
        found = super().measure(*words, **named)  # type: ignore[arg-type]
        if isinstance(found, Failed):
            return found
        other = {Side.BASELINE: Side.CANDIDATE, Side.CANDIDATE: Side.BASELINE}
        return tuple(replace(each, side=other[each.side]) for each in found)


def test_a_harness_that_goes_wrong_later_that_day_is_found_by_a_slow_down() -> None:
    stage = queued(3, 100, control="slow 1050000")
    assert go(stage, Budget(experiments=1), chance=lambda: 0.9) == ["blind null REJECT", "P1 REJECT"]
    stage.steps = Swapped(gate=stage.gate)
    kernel, head = stage.kernel(), stage.workspace.head()
    with refuses("blind-slot-kept"):
        go(stage, chance=lambda: 0.1)
    assert [(each.truth, each.verdict) for each in slots(stage)][1:] == [(Truth.SLOW, Verdict.KEEP)]
    assert stage.kernel() == kernel
    assert stage.workspace.parent(stage.workspace.head()) == head
    (rates,) = read_ledger(stage.library, stage.workspace.head()).blind
    assert rates_text(rates) == "0 of 1 nulls kept (at most 95.0 %), 0 of 1 slow-downs not kept (at least 0.0 %)"


def test_slots_of_an_older_harness_are_counted_apart() -> None:
    stage = given(Stage())
    list(run_blind(stage.context(), count=2, target="", chance=lambda: 0.9))
    stage.workspace.edit({"bench/run": b"another"})
    (outcome,) = run_blind(stage.context(), count=1, target="", chance=lambda: 0.9)
    assert outcome.rates is not None
    assert rates_text(outcome.rates).startswith("0 of 1 nulls kept (at most 95.0 %); 2 in other epochs")


def test_a_blind_slot_is_burnt_in_as_a_candidate_is() -> None:
    """By decision 27: both kinds get the two sessions, the gate, the burn-in and `judge` of a run."""
    stage = given(Stage(steps=Lucky()))
    cpu = stage.library.given_protocol.targets["cpu"]
    assert cpu.benchmark is not None
    gpu = replace(cpu, benchmark=replace(cpu.benchmark, burn_in=BurnInRule()), number_kind=NumberKind.DEVICE_TIME)
    targets = {**stage.library.given_protocol.targets, "cpu": gpu}
    stage.library.given_protocol = replace(stage.library.given_protocol, targets=targets)
    stage.steps.burn_ins = [BurnIn(seconds=5.0, steady=True, clock_mhz=1980, temperature_c=44)]
    with refuses("blind-slot-kept"):
        list(run_blind(stage.context(), count=1, target="", chance=lambda: 0.9))
    assert [build for build, _ in stage.steps.burnt] == ["slow_1000000"]


class Lucky(FakeSteps):
    """Whatever is called the candidate takes a tenth less time, so that there is a confirmation."""

    def measure(self, *words: object, **named: object) -> tuple[Sample, ...] | Failed:
        found = super().measure(*words, **named)  # type: ignore[arg-type]
        if isinstance(found, Failed):
            return found
        factor = {Side.BASELINE: 1.0, Side.CANDIDATE: 0.9}
        return tuple(replace(each, ns=tuple(round(factor[each.side] * ns) for ns in each.ns)) for each in found)


def test_the_default_is_one_in_twenty() -> None:
    assert KeepRule().blind_percent == 5.0
    assert Control(patch="x").slower_percent == 5.0


def test_without_a_control_that_passes_nothing_is_measured() -> None:
    stage = given(Stage(), control="slow 1050000")
    stage.steps = Swapped(gate=stage.gate)
    head = stage.workspace.head()
    with refuses("control-failed", ControlFailed):
        list(run_blind(stage.context(), count=2, target="", chance=lambda: 0.9))
    assert (stage.workspace.head(), stage.steps.measured) == (head, [0, 1, 2])
