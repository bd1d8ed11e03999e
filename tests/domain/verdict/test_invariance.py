"""What must not matter to a verdict, from the samples on: the names of the sides, the speed of the machine, what came later."""

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.protocol.boundaries import CONFIRM_LAUNCHES_ROUNDS, LOOKS
from expctl.domain.protocol.model import Benchmark, KeepRule, Size, Style
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session, Side, round_effects
from expctl.domain.verdict.sequential_test import Decision

BENCHMARK = Benchmark(argv=("-",), timeout_s=1, sizes=(Size(name="big", weight=0.6), Size(name="small", weight=0.4)))
PLANS = [Plan.of(BENCHMARK, KeepRule(), mode) for mode in (Mode.GAIN, Mode.GAIN_COSTLY)]
OTHER = {Side.BASELINE: Side.CANDIDATE, Side.CANDIDATE: Side.BASELINE}
BASE_NS = {"big": 40_000_000, "small": 5_000_000}


def life(seed: int, style: Style, effect: float, sd: float) -> list[Sample]:
    """Every sample that a run could ask for: the longest search and the longest confirmation, on a machine that drifts."""
    draw = Random(seed)
    search, confirm = LOOKS[-1], CONFIRM_LAUNCHES_ROUNDS
    samples: list[Sample] = []
    for number in range(search + confirm):
        session = Session.SEARCH if number < search else Session.CONFIRM
        sides = [Side.BASELINE, Side.CANDIDATE] * (2 if style is Style.LAUNCH else 1)
        draw.shuffle(sides)
        for launch, side in enumerate(sides):
            for size, ns in BASE_NS.items():
                level = math.log(ns) + 0.01 * math.sin(number) - effect * (side is Side.CANDIDATE)
                times = tuple(round(math.exp(level + draw.gauss(0, sd))) for _ in range(4))
                made = Sample(round=number, launch=launch, side=side, size=size, style=style, visit=1, ns=times, order="AB")
                samples.append(replace(made, session=session))
    return samples


LIVES = st.builds(life, st.integers(0, 10**6), st.sampled_from(list(Style)), st.floats(-0.02, 0.02), st.floats(0.0005, 0.02))


def decided(samples: list[Sample], plan: Plan) -> Decision:
    answer = judge(samples, plan, Kind.PERF)
    assert isinstance(answer, Decision)
    return answer


@settings(max_examples=25, deadline=None)
@given(LIVES, st.sampled_from(PLANS))
def test_swapping_the_labels_of_all_samples_swaps_the_sign_and_never_keeps_both(samples: list[Sample], plan: Plan) -> None:
    swapped = [replace(each, side=OTHER[each.side]) for each in samples]
    for one, other in zip(round_effects(samples), round_effects(swapped), strict=True):
        assert {size: -x for size, x in other.effect.items()} == pytest.approx(one.effect, abs=1e-12)
    assert [decided(samples, plan).verdict, decided(swapped, plan).verdict].count(Verdict.KEEP) <= 1


@settings(max_examples=25, deadline=None)
@given(LIVES, st.sampled_from(PLANS), st.integers(2, 1000))
def test_a_machine_that_is_slower_by_any_factor_gives_the_same_verdict(samples: list[Sample], plan: Plan, factor: int) -> None:
    slower = [replace(each, ns=tuple(ns * factor for ns in each.ns)) for each in samples]
    one, other = decided(samples, plan), decided(slower, plan)
    assert (one.verdict, one.rounds, one.procedure) == (other.verdict, other.rounds, other.procedure)
    for size, interval in one.intervals.items():
        assert other.intervals[size].mean == pytest.approx(interval.mean, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(LIVES, st.sampled_from(PLANS))
def test_samples_after_the_decision_change_nothing(samples: list[Sample], plan: Plan) -> None:
    whole = decided(samples, plan)
    assert whole.procedure is not None
    last = {Session.SEARCH: whole.procedure.search_rounds, Session.CONFIRM: LOOKS[-1] + whole.procedure.confirm_rounds}
    needed = [each for each in samples if each.session is not None and each.round < last[each.session]]
    assert decided(needed, plan) == whole
    assert len(needed) < len(samples)


def test_both_signs_are_kept_somewhere() -> None:
    """Else the property above would hold for a rule that never keeps."""
    assert decided(life(1, Style.FINE, 0.01, 0.002), PLANS[0]).verdict is Verdict.KEEP
    assert decided(life(1, Style.LAUNCH, -0.01, 0.002), PLANS[0]).verdict is Verdict.REJECT
