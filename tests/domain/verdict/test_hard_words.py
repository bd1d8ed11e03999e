"""Words beside numbers at the edges: limits met exactly, sizes without weight, no noise, gains far below a rounding."""

import math
import re
from collections.abc import Mapping, Sequence
from random import Random

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.figures import effect_text
from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.experiment.record import Estimate, Origin, Record
from expctl.domain.ledger.record_summary import summary_of
from expctl.domain.protocol.model import Size, Style
from expctl.domain.verdict.judge import estimates_of
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Session, Side
from expctl.domain.verdict.sequential_test import Decision, decide
from expctl.domain.verdict.statistics import percent
from expctl.views.ledger.rows import measured_row
from expctl.views.report import record_lines, verdict_lines
from tests.domain.verdict.made_rounds import PLAN, decided, gain
from tests.domain.verdict.made_samples import C, Times, concluded, plan, sizes

ONE = replace(PLAN, weights={"n": 1.0})
INTERVAL = re.compile(r"([-+]\d+(?:\.\d+)?) % \[([-+]\d+(?:\.\d+)?), ([-+]\d+(?:\.\d+)?)\]")
OBJECTIVE = "objective"


def still(effects: Mapping[str, float], noise: float = 0.0, seed: int = 1) -> list[RoundEffect]:
    """All rounds that a run could ask for, with these effects (log units) give or take the noise."""
    draw, made = Random(seed), []
    for number in range(400):
        robust = {size: effect + (draw.gauss(0, noise) if noise else 0.0) for size, effect in effects.items()}
        session = Session.SEARCH if number < 200 else Session.CONFIRM
        made.append(RoundEffect(round=number, effect=robust, mean_effect=robust, session=session, duration_s=1.0))
    return made


def outcome(effects: Mapping[str, float], wanted: Plan) -> Decision:
    return decided(still(effects), wanted)


def ends(text: str) -> list[tuple[float, float]]:
    return [(float(low), float(high)) for _, low, high in INTERVAL.findall(text)]


# ------------------------------------------------------------------ limits met exactly


@pytest.mark.parametrize("mode", list(Mode))
def test_an_effect_at_the_floor_exactly_is_not_above_it(mode: Mode) -> None:
    wanted = replace(ONE, mode=mode)
    assert outcome({"n": wanted.floor}, wanted).verdict is not Verdict.KEEP
    above = outcome({"n": wanted.floor + 1e-5}, wanted)
    assert above.verdict is Verdict.KEEP
    assert ends(above.reasons[0])[0][0] > percent(wanted.floor)


@pytest.mark.parametrize("mode", list(Mode))
def test_an_effect_at_the_ceiling_exactly_is_not_ruled_out(mode: Mode) -> None:
    wanted = replace(ONE, mode=mode)
    found = outcome({"n": wanted.ceiling}, wanted)
    assert found.verdict is Verdict.KEEP, found.reasons
    assert "ruled out" not in found.reasons[0]


def test_a_simplification_without_any_budget_that_changes_nothing_is_neither_kept_nor_slower() -> None:
    """Floor and ceiling are both zero, and so is the effect: it lies neither above the one nor below the other."""
    found = outcome({"n": 0.0}, replace(ONE, mode=Mode.SIMPLIFY, simplify_used=0.005))
    assert found.verdict is Verdict.INCONCLUSIVE, found.reasons


@pytest.mark.parametrize("tiny", [1e-4, 1e-6, 1e-7, 1e-8, 1e-9])
def test_a_keep_never_prints_an_interval_that_contains_zero_however_small_the_gain(tiny: float) -> None:
    """One nanosecond in a second, without any noise, is a gain of 1e-9."""
    found = outcome({"n": tiny}, ONE)
    if found.verdict is Verdict.KEEP:
        assert all(low > 0 for low, _ in ends(found.reasons[0])), found.reasons


@pytest.mark.parametrize("small", [0.0, -1e-9, -1e-7, -1e-5, -0.002, -0.0029])
def test_a_size_is_named_if_its_interval_lies_wholly_below_zero_and_at_zero_it_does_not(small: float) -> None:
    found = outcome({"big": 0.02, "small": small}, PLAN)
    assert found.verdict is Verdict.KEEP
    if small == 0.0:
        assert found.reasons[0].endswith("no size regresses")
    else:
        assert "no size regresses" not in found.reasons[0]
        (said,) = re.findall(r"small loses (.*), inside its guard", found.reasons[0])
        assert all(high < 0 for _, high in ends(said)), said


def test_a_size_at_its_guard_exactly_is_not_above_it() -> None:
    for small, kept in ((-PLAN.guard, False), (-PLAN.guard + 1e-6, True), (-PLAN.guard - 1e-6, False)):
        wanted = replace(PLAN, regression=0.05)
        assert (outcome({"big": 0.02, "small": small}, wanted).verdict is Verdict.KEEP) == kept


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("where", [0, 2, 201])
def test_what_is_no_number_is_never_a_keep(bad: float, where: int) -> None:
    rounds = still({"big": 0.02, "small": 0.02})
    rounds[where] = replace(rounds[where], effect={"big": 0.02, "small": bad})
    try:
        found = decide(rounds, PLAN)
    except (ValueError, ArithmeticError):
        return
    assert not isinstance(found, Decision) or found.verdict is not Verdict.KEEP


# ------------------------------------------------------------------ sizes and weights


@pytest.mark.parametrize("seed", range(8))
def test_a_size_without_weight_moves_no_objective(seed: int) -> None:
    """Beside a size that gains as much, and one whose weight is zero and that gains a little less."""
    draw = Random(seed)
    effect, noise = draw.uniform(-0.004, 0.01), draw.choice([0.0005, 0.004])
    rounds = still({"n": effect}, noise, seed)
    watched = [replace(each, effect={"n": each.effect["n"], "watched": each.effect["n"] - 1e-9}) for each in rounds]
    watched = [replace(each, mean_effect=each.effect) for each in watched]
    alone, both = decided(rounds, ONE), decided(watched, replace(ONE, weights={"n": 1.0, "watched": 0.0}))
    assert alone.verdict is both.verdict
    assert alone.intervals[OBJECTIVE] == both.intervals[OBJECTIVE] == both.intervals["n"]


def test_three_sizes_of_which_two_have_no_weight_are_each_guarded_and_named() -> None:
    wanted = replace(PLAN, weights={"n": 1.0, "x": 0.0, "y": 0.0})
    kept = outcome({"n": 0.02, "x": -0.001, "y": 0.001}, wanted)
    assert kept.verdict is Verdict.KEEP
    assert "x loses -0.10 %" in kept.reasons[0]
    lost = outcome({"n": 0.02, "x": -0.01, "y": 0.001}, wanted)
    assert lost.verdict is Verdict.REJECT
    assert lost.reasons[0].startswith("x regresses: ")


def test_two_sizes_that_lose_are_both_named_in_the_order_of_the_protocol() -> None:
    wanted = replace(PLAN, weights={"a": 0.8, "b": 0.1, "c": 0.1})
    found = outcome({"a": 0.02, "b": -0.002, "c": -0.003}, wanted)
    assert found.verdict is Verdict.KEEP
    assert re.findall(r"(\w) loses", found.reasons[0]) == ["b", "c"]


@pytest.mark.parametrize("objective", [-0.001, -1e-6])
def test_a_rescuer_carries_no_objective_that_surely_loses(objective: float) -> None:
    wanted = plan((Size(name="n", weight=0.9), Size(name="few", weight=0.1, rescuer=True)), style=Style.FINE)
    wanted = replace(wanted, guard=0.1, regression=0.1)
    few = 0.05
    losing = outcome({"n": (objective - 0.1 * few) / 0.9, "few": few}, wanted)
    assert losing.verdict is not Verdict.KEEP, losing.reasons
    alike = decided(still({"n": -0.1 * few / 0.9 + 1e-9, "few": few}), wanted)
    assert alike.verdict is Verdict.KEEP


# ------------------------------------------------------------------ futility


@pytest.mark.parametrize(("mode", "bound"), [(Mode.GAIN, "0.5 %"), (Mode.GAIN_COSTLY, "0.7 %")])
def test_futility_says_what_was_bounded_and_at_which_confidence(mode: Mode, bound: str) -> None:
    found = decided(still({"n": 0.0005}, 0.0005), replace(ONE, mode=mode))
    assert found.verdict is Verdict.REJECT
    (reason,) = found.reasons
    assert reason.startswith("objective ")
    assert f"a gain of {bound} is ruled out" in reason
    assert ends(reason)[0][1] < float(bound.split()[0])
    assert re.search(r"\b9\d(\.\d+)? %", reason), f"no confidence: {reason}"


# ------------------------------------------------------------------ what show and ledger print


def made_times(seed: int) -> tuple[Sequence[Size], Times]:
    """A machine, a kernel and one to three sizes, any of which may have no weight."""
    draw = Random(seed)
    names = ["a", "b", "c"][: draw.randint(1, 3)]
    weights = [1.0, *(draw.choice([0.0, 0.3]) for _ in names[1:])]
    gains = {name: draw.choice([0.0, 0.0001, 0.003, 0.01, -0.003]) for name in names}
    noise = draw.choice([0.0, 0.00002, 0.001])

    def times(side: Side, size: str, _number: int, _place: int) -> list[int]:
        level = 1e9 * (math.exp(-gains[size]) if side is C else 1.0)
        return [round(level * math.exp(draw.gauss(0, noise))) for _ in range(3)]

    total = sum(weights)
    return sizes(**{name: weight / total for name, weight in zip(names, weights, strict=True)}), times


def record_of(decision: Decision, estimates: tuple[Estimate, ...]) -> Record:
    return Record(
        id="P1", title="t", kind=Kind.PERF, origin=Origin.MEASURED, target="cpu", verdict=decision.verdict,
        reasons=decision.reasons, estimates=estimates, procedure=decision.procedure,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_no_keep_shows_an_interval_that_contains_its_floor(seed: int) -> None:
    """From random times to the lines that a person reads: reasons, show and the ledger's row."""
    draw = Random(-seed - 1)
    made, times = made_times(seed)
    wanted = plan(made, draw.choice(list(Mode)), Style.FINE)
    decision, samples = concluded(wanted, times)
    record = record_of(decision, estimates_of(decision, samples, made))
    objective = decision.intervals[OBJECTIVE]
    for line in [*verdict_lines(record), *record_lines(record)]:
        for low, high in ends(line)[:1] if f"{OBJECTIVE} " in line else []:  # the first is the objective's
            assert low <= high
            for limit in (0.0, wanted.floor) if decision.verdict is Verdict.KEEP else (0.0,):
                assert not (objective.low > limit and low <= percent(limit)), line
            assert not (objective.high < 0 and high >= 0), line


def estimate(low: float, high: float) -> Estimate:
    return Estimate(
        size=OBJECTIVE, effect_percent=(low + high) / 2, low_percent=low, high_percent=high, sd_percent=0.1, rounds=6
    )


@pytest.mark.parametrize(("low", "high"), [(0.004, 0.3), (0.0004, 0.1), (-0.3, -0.004), (0.00003, 0.00009)])
def test_an_effect_as_text_stays_on_its_side_of_zero(low: float, high: float) -> None:
    ((printed_low, printed_high),) = ends(effect_text(estimate(low, high)))
    assert (printed_low > 0, printed_high < 0) == (low > 0, high < 0)


def test_a_simplification_is_not_shown_to_touch_its_floor() -> None:
    """Kept with a lower end of -.498 %, where -.5 % is the floor."""
    decision = outcome({"n": math.log1p(-0.00498)}, replace(ONE, mode=Mode.SIMPLIFY, guard=0.05, regression=0.05))
    assert decision.verdict is Verdict.KEEP
    assert all(low > -0.5 for low, _ in ends(decision.reasons[0]))
    shown = estimate(-0.4984, -0.4976)
    lines = verdict_lines(record_of(decision, (shown,)))
    assert all(low > -0.5 for line in lines for low, _ in ends(line)), lines


@pytest.mark.parametrize(("low", "effect", "high"), [(0.05, 0.3, 0.95), (0.004, 0.01, 0.03), (0.0039, 0.004, 0.0041)])
def test_the_ledgers_row_prints_the_interval_that_decided(low: float, effect: float, high: float) -> None:
    """It is longer above than below: half its width beside the mean would reach below zero."""
    decision = outcome({"n": gain(0.004)}, ONE)
    row = summary_of(record_of(decision, (replace(estimate(low, high), effect_percent=effect),))).row
    printed = str(measured_row(row)).split(" | ")[4]
    assert "±" not in printed
    ((printed_low, printed_high),) = ends(printed)
    assert (printed_low, printed_high) == pytest.approx((low, high), abs=0.005)
    assert printed_low > 0
