"""Every way in which `decide` can answer."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.experiment import Mode, Verdict
from expctl.domain.measurement import RoundEffect
from expctl.domain.protocol import Benchmark, KeepRule, Size
from expctl.domain.stats import t_interval
from expctl.domain.verdict import OBJECTIVE, Decision, MeasureMore, Plan, decide, describe

PLAN = Plan(
    weights={"big": 0.6, "small": 0.4},
    rounds=6,
    mode=Mode.GAIN,
    guard=0.005,
    regression=0.003,
    worthwhile=0.005,
    simplify=0.005,
)
SIMPLIFY = replace(PLAN, mode=Mode.SIMPLIFY)


def rounds(big: float, small: float, noise: float = 0.0, n: int = 6) -> list[RoundEffect]:
    """Rounds whose effects have these means (percent) and alternate by +-noise (percent)."""
    return [
        RoundEffect(
            round=i,
            effect={"big": (big + noise * (-1) ** i) / 100, "small": (small + noise * (-1) ** i) / 100},
        )
        for i in range(n)
    ]


def decided(effects: list[RoundEffect], plan: Plan = PLAN) -> Decision:
    decision = decide(effects, plan)
    assert isinstance(decision, Decision)
    return decision


OUTCOMES = {
    "a clear gain": (rounds(2, 2, 0.3), PLAN, Verdict.KEEP, "gain beyond noise"),
    "a small gain, measured well": (rounds(0.4, 0.4, 0.1), PLAN, Verdict.KEEP, "gain beyond noise"),
    "one size pays for the other": (rounds(5, -1, 0.2), PLAN, Verdict.REJECT, "small regresses"),
    "both sizes lose": (rounds(-2, -2, 0.2), PLAN, Verdict.REJECT, "big regresses"),
    "no effect, measured well": (rounds(0, 0, 0.05), PLAN, Verdict.REJECT, "is ruled out"),
    "a gain too small to want": (rounds(0.1, -0.1, 0.2), PLAN, Verdict.REJECT, "a gain of 0.5 % is ruled out"),
    "no effect in much noise": (rounds(0, 0, 3), PLAN, Verdict.INCONCLUSIVE, "rounds would decide"),
    "a gain in much noise": (rounds(1, 1, 2), PLAN, Verdict.INCONCLUSIVE, "rounds would decide"),
    "a gain with a size unguarded": (rounds(6, 0, 0.9), PLAN, Verdict.INCONCLUSIVE, "small +0.00 %"),
    "a loss within the tolerance": (rounds(0.9, -0.2, 0.05), PLAN, Verdict.KEEP, "gain beyond noise"),
    "simpler and as fast": (rounds(0, 0, 0.1), SIMPLIFY, Verdict.KEEP, "loses less than 0.5 %"),
    "simpler and a little slower": (rounds(-0.2, -0.2, 0.1), SIMPLIFY, Verdict.KEEP, "loses less than 0.5 %"),
    "simpler and faster": (rounds(1, 1, 0.1), SIMPLIFY, Verdict.KEEP, "loses less than 0.5 %"),
    "simpler and too slow": (rounds(-1, -1, 0.1), SIMPLIFY, Verdict.REJECT, "regresses"),
    "simpler, surely slower, at the budget": (rounds(-0.45, -0.45, 0.2), SIMPLIFY, Verdict.REJECT, "no loss is ruled out"),
    "simpler in much noise": (rounds(0, 0, 3), SIMPLIFY, Verdict.INCONCLUSIVE, "rounds would decide"),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_the_outcome_of(name: str) -> None:
    effects, plan, verdict, words = OUTCOMES[name]
    decision = decided(effects, plan)
    assert (decision.verdict, words in decision.reasons[0]) == (verdict, True), decision.reasons


def test_a_regression_of_each_size_is_a_reason_of_its_own() -> None:
    decision = decided(rounds(-2, -3, 0.1))
    assert [reason.split()[0] for reason in decision.reasons] == ["big", "small"]


def test_the_intervals_are_of_the_objective_and_of_each_size() -> None:
    effects = rounds(2, 1, 0.3)
    intervals = decided(effects).intervals
    assert list(intervals) == [OBJECTIVE, "big", "small"]
    assert intervals["big"] == t_interval([each.effect["big"] for each in effects])
    assert intervals[OBJECTIVE].mean == pytest.approx(0.6 * 0.02 + 0.4 * 0.01)


def test_the_price_of_deciding_is_about_right() -> None:
    noise, n = 1.0, 6
    decision = decided(rounds(0.5, 0.5, noise, n))
    assert decision.verdict is Verdict.INCONCLUSIVE
    objective = decision.intervals[OBJECTIVE]
    wanted = math.ceil((1.96 * objective.sd / objective.mean) ** 2)
    assert f"about {wanted} rounds would decide" in decision.reasons[0]


@given(st.integers(0, 5))
def test_looking_early_decides_nothing(n: int) -> None:
    assert decide(rounds(50, 50, 0, n), PLAN) == MeasureMore(rounds_left=6 - n)


@given(st.lists(st.floats(-0.5, 0.5), max_size=10))
def test_rounds_after_the_plan_are_ignored(later: list[float]) -> None:
    effects = rounds(0.3, 0.3, 0.4)
    extra = [RoundEffect(round=6 + i, effect={"big": x, "small": x}) for i, x in enumerate(later)]
    assert decide([*effects, *extra], PLAN) == decide(effects, PLAN)


PAIRS = st.lists(st.tuples(st.floats(-0.05, 0.05), st.floats(-0.05, 0.05)), min_size=6, max_size=6)


@given(PAIRS)
def test_never_a_keep_for_both_labels(pairs: list[tuple[float, float]]) -> None:
    one = [RoundEffect(round=i, effect={"big": b, "small": s}) for i, (b, s) in enumerate(pairs)]
    other = [RoundEffect(round=i, effect={"big": -b, "small": -s}) for i, (b, s) in enumerate(pairs)]
    assert [decided(one).verdict, decided(other).verdict].count(Verdict.KEEP) <= 1


@given(PAIRS, st.sampled_from([PLAN, SIMPLIFY]))
def test_a_keep_means_a_gain_and_every_size_guarded(pairs: list[tuple[float, float]], plan: Plan) -> None:
    decision = decided([RoundEffect(round=i, effect={"big": b, "small": s}) for i, (b, s) in enumerate(pairs)], plan)
    assert decision.reasons
    if decision.verdict is Verdict.KEEP:
        assert decision.intervals[OBJECTIVE].low > (-plan.simplify if plan.mode is Mode.SIMPLIFY else 0)
        assert min(decision.intervals[size].low for size in plan.weights) > -plan.guard


@given(PAIRS, st.sampled_from([PLAN, SIMPLIFY]), st.randoms(use_true_random=False))
def test_the_order_of_the_rounds_does_not_matter(pairs: list[tuple[float, float]], plan: Plan, draw: "object") -> None:
    effects = [RoundEffect(round=i, effect={"big": b, "small": s}) for i, (b, s) in enumerate(pairs)]
    shuffled = list(effects)
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    assert decided(shuffled, plan).verdict is decided(effects, plan).verdict


def test_a_plan_takes_percent_from_the_protocol() -> None:
    benchmark = Benchmark(argv=("b",), timeout_s=1, sizes=(Size(name="big", weight=1.0),), rounds=9)
    keep = KeepRule(guard_percent=1, regression_percent=2, worthwhile_percent=3, simplify_percent=4)
    plan = Plan.of(benchmark, keep, Mode.SIMPLIFY)
    assert plan == Plan(
        weights={"big": 1.0}, rounds=9, mode=Mode.SIMPLIFY, guard=0.01, regression=0.02, worthwhile=0.03, simplify=0.04
    )


def test_an_interval_is_described_in_percent_of_throughput() -> None:
    assert describe(t_interval([math.log(1.02)] * 3)) == "+2.00 % [+2.00, +2.00]"
