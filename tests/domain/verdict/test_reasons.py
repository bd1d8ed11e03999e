"""The words of a verdict never contradict the numbers that stand beside them, as printed."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.protocol.boundaries import SEARCH
from expctl.domain.verdict.evidence import describe, limit_text
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.sequential_test import Decision
from expctl.domain.verdict.statistics import Interval, interval, percent, t_interval
from tests.domain.verdict.made_rounds import LIVES, PLAN, Life, decided, fresh, gain, lives, loss, rounds
from tests.domain.verdict.reference import OBJECTIVE

NUMBER = r"([-+]\d+\.\d+)"
SHOWN = re.compile(rf"(?:(\w+)(?: loses| regresses:| regresses in the confirmation:)? )?{NUMBER} % \[{NUMBER}, {NUMBER}\]")


@dataclass(frozen=True)
class Shown:
    """An interval as a reader sees it."""

    name: str
    mean: str
    low: str
    high: str

    @property
    def ends(self) -> tuple[float, float]:
        return float(self.low), float(self.high)


def shown(reason: str) -> Iterator[Shown]:
    for name, *numbers in SHOWN.findall(reason.replace("the mean time of all iterations loses:", "mean_time")):
        yield Shown(name, *numbers)


def digits(number: str) -> int:
    return len(number.split(".")[1])


def limits_of(plan: Plan, name: str) -> list[float]:
    """In log units."""
    return [0.0, plan.floor, plan.ceiling] if name == OBJECTIVE else [0.0, -plan.guard]


def problems(found: Decision, plan: Plan) -> list[str]:
    """What a reader who trusts the printed numbers would object to."""
    said: list[str] = []
    for reason in found.reasons:
        for each in shown(reason):
            low, high = each.ends
            if not low <= float(each.mean) <= high:
                said.append(f"the mean lies outside of its interval: {reason}")
            if each.name in found.intervals and "the search saw" not in reason:
                said += _differs(each, found.intervals, plan)
            if "gain beyond noise" in reason and "loses" not in reason and low <= 0:
                said.append(f"no gain beyond noise: {reason}")
            if (match := re.search(r"gains more than ([\d.]+) %", reason)) and each.name != "" and _kept(each, reason):
                said += [f"gains less: {reason}"] if low <= float(match[1]) else []
            if (match := re.search(r"loses less than ([\d.]+) %", reason)) and _kept(each, reason):
                said += [f"may lose more: {reason}"] if low <= -float(match[1]) else []
            if (match := re.search(r"gain of ([\d.]+) % is ruled out", reason)) and high >= float(match[1]):
                said.append(f"not ruled out: {reason}")
            if "the candidate is slower" in reason and high >= 0:
                said.append(f"may be as fast: {reason}")
            if (
                "regresses" in reason
                and "no size regresses" not in reason
                and float(each.mean) > 0.99 * percent(-plan.tolerance)
            ):
                said.append(f"inside the tolerance: {reason}")
            if match := re.search(r"is neither surely above ([-+][\d.]+) % nor below ([-+][\d.]+) %", reason):
                said += [] if low <= float(match[1]) and high >= float(match[2]) else [f"it is: {reason}"]
            if (match := re.search(r"\] is above ([-+][\d.]+) %, but", reason)) and low <= float(match[1]):
                said.append(f"it is not above: {reason}")
            if (match := re.search(r"\] is below ([-+][\d.]+) %, but", reason)) and high >= float(match[1]):
                said.append(f"it is not below: {reason}")
            if each.name == "mean_time" and high >= percent(-plan.guard):
                said.append(f"the mean time may hold its guard: {reason}")
    return said


def _kept(each: Shown, reason: str) -> bool:
    """Is it the interval that carries the KEEP, rather than that of a size that loses?"""
    return reason.index(f"[{each.low}, {each.high}]") < reason.index(":")


def _differs(each: Shown, intervals: Mapping[str, Interval], plan: Plan) -> Iterator[str]:
    found = intervals[each.name]
    for text, value in ((each.mean, found.mean), (each.low, found.low), (each.high, found.high)):
        if abs(float(text) - percent(value)) > 0.501 * 10.0 ** -digits(text):
            yield f"{each.name}: printed {text}, found {percent(value)}"
    for text, value in ((each.low, found.low), (each.high, found.high)):
        for limit in limits_of(plan, each.name):
            if digits(text) < 6 and (float(text) > percent(limit)) != (value > limit):
                yield f"{each.name}: {text} is rounded across {percent(limit)}"


@lives(60)
@given(LIVES)
def test_no_words_contradict_a_printed_number(life: Life) -> None:
    assert problems(decided(life.rounds, life.plan), life.plan) == []


@lives(60)
@given(LIVES)
def test_a_keep_names_every_size_that_surely_loses_and_only_those(life: Life) -> None:
    found = decided(life.rounds, life.plan)
    losing = {size for size in life.plan.weights if found.intervals[size].high < 0}
    (reason, *others) = found.reasons
    if found.verdict is Verdict.KEEP:
        assert not others
        assert ("no size regresses" in reason) == (not losing)
        said = re.findall(r"(\w+) loses (-[\d.]+) % \[(-[\d.]+), (-[\d.]+)\]", reason)
        assert {size for size, *_ in said} == losing
        assert ("inside its guard" in reason) == bool(losing)
    else:
        assert "no size regresses" not in " ".join(found.reasons)


@lives(60)
@given(LIVES)
def test_a_reason_for_a_regression_names_every_size_that_regresses_and_no_other(life: Life) -> None:
    found = decided(life.rounds, life.plan)
    assert found.procedure is not None
    words = "regresses in the confirmation:" if found.procedure.confirm_rounds else "regresses:"
    said = [reason.split()[0] for reason in found.reasons if words in reason]
    if said:
        assert found.verdict is Verdict.REJECT
        assert all(found.intervals[size].mean < -life.plan.tolerance for size in said)
        assert all(found.intervals[size].high < 0 for size in said)
        assert len(found.reasons) == len(said) == len(set(said))


@lives(60)
@given(LIVES)
def test_what_the_search_saw_is_the_interval_of_its_last_look(life: Life) -> None:
    found = decided(life.rounds, life.plan)
    assert found.procedure is not None
    if found.reasons[0].startswith("not confirmed: the search saw"):
        n = found.procedure.search_rounds
        (each,) = shown(found.reasons[0])
        effects = [r.objective(life.plan.weights) if each.name == OBJECTIVE else r.effect[each.name] for r in life.search[:n]]
        seen = interval(effects, SEARCH.at(SEARCH.low, n), SEARCH.at(SEARCH.high, n))
        assert each.name == (found.procedure.rescued_by or OBJECTIVE)
        assert not list(_differs(each, {each.name: seen}, life.plan))


ENDS = st.floats(-0.012, 0.012).filter(lambda x: min(abs(x - limit) for limit in (-0.005, 0.0, 0.002, 0.005)) > 1e-6)


@settings(max_examples=300)
@given(ENDS, ENDS, st.sampled_from([(0.0,), (0.0, 0.005), (0.002, 0.007), (0.0, -0.005), (0.0, 0.002, 0.005, -0.005)]))
def test_a_printed_end_stays_on_its_side_of_every_limit(one: float, other: float, limits: tuple[float, ...]) -> None:
    low, high = sorted((one, other))
    (each,) = shown(describe(Interval(n=5, mean=(low + high) / 2, low=low, high=high, sd=0.001), limits))
    for text, value in ((each.low, low), (each.high, high)):
        for limit in limits:
            assert (float(text) > percent(limit), float(text) < percent(limit)) == (value > limit, value < limit)


@pytest.mark.parametrize(
    ("end", "limit"),
    [
        (0.4981, 0.5),
        (0.6974, 0.7),
        (-0.50001, -0.5),
        (0.49995, 0.5),
        (0.499, 0.5),
        (-0.501, -0.5),
        (0.699, 0.7),
        (0.24999, 0.25),
    ],
)
def test_a_printed_end_stays_on_its_side_of_a_limit_as_that_is_printed(end: float, limit: float) -> None:
    """Both in percent, as a protocol gives a limit."""
    low, high = (end, 2.0) if end < 0 else (-2.0, end)
    (each,) = shown(describe(Interval(n=5, mean=0.0, low=gain(low), high=gain(high), sd=0.001), (0.0, gain(limit))))
    text, printed = float(each.low if end < 0 else each.high), float(limit_text(gain(limit)).removesuffix(" %"))
    assert printed == limit
    assert (text > printed, text < printed) == (end > limit, end < limit)


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        (gain(0.5), "+0.5 %"),
        (gain(0.25), "+0.25 %"),
        (-loss(0.5), "-0.5 %"),
        (gain(0.2125), "+0.2125 %"),
        (0.0, "+0 %"),
        (gain(3), "+3 %"),
    ],
)
def test_a_limit_is_printed_as_a_protocol_gives_it(limit: float, text: str) -> None:
    assert limit_text(limit) == text


def test_an_interval_is_described_in_percent_of_throughput() -> None:
    assert describe(t_interval([math.log(1.02)] * 3)) == "+2.00 % [+2.00, +2.00]"
    assert describe(Interval(n=3, mean=0.0, low=-0.0000049, high=0.01, sd=0.001)) == "+0.0000 % [-0.0005, +1.0050]"


def test_both_worked_cases_of_the_issue_say_what_is_so() -> None:
    """+2 % and -.28 % on a quiet machine; a small loss that is not sure."""
    sure = decided([*rounds(2, -0.28, 0.003), *fresh(2, -0.28, 0.003)], PLAN)
    assert sure.verdict is Verdict.KEEP
    assert re.search(r"; small loses -0\.2\d % \[-0\.\d+, -0\.\d+\], inside its guard$", sure.reasons[0])
    unsure = decided([*rounds(2, -0.1, 0.1), *fresh(2, -0.1, 0.1)], PLAN)
    assert unsure.intervals["small"].mean < 0 < unsure.intervals["small"].high
    assert unsure.reasons[0].endswith("gain beyond noise; no size regresses")


def reason_of(plan: Plan, big: float, small: float, noise: float) -> str:
    found = decided([*rounds(big, small, noise), *fresh(big, small, noise)], plan)
    assert problems(found, plan) == []
    return found.reasons[0]


def test_limits_are_printed_as_exactly_as_a_protocol_gives_them() -> None:
    fine = replace(PLAN, worthwhile=gain(0.25), costly=gain(0.35))
    assert "a gain of 0.25 % is ruled out" in reason_of(fine, -0.1, -0.1, 0.05)
    costly = replace(fine, mode=Mode.GAIN_COSTLY)
    assert "gains more than 0.35 %" in reason_of(costly, 1, 1, 0.05)
    assert "a gain of 0.6 % is ruled out" in reason_of(costly, -0.1, -0.1, 0.05)
    assert "loses less than 0.215 %" in reason_of(replace(PLAN, mode=Mode.SIMPLIFY, simplify_used=0.00285), 0, 0, 0.02)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (replace(PLAN, worthwhile=gain(0.25)), "nor below +0.25 %"),
        (replace(PLAN, mode=Mode.GAIN_COSTLY, costly=gain(0.25)), "neither surely above +0.25 % nor below +0.75 %"),
        (replace(PLAN, mode=Mode.SIMPLIFY, simplify_used=0.0035), "neither surely above -0.15 % nor below +0 %"),
        (replace(PLAN, mode=Mode.SIMPLIFY, simplify_used=0.006), "neither surely above +0 % nor below +0 %"),
    ],
)
def test_an_undecided_reason_prints_its_limits_as_exactly(plan: Plan, words: str) -> None:
    assert words in reason_of(plan, 0.25, 0.25, 4)


def test_a_guard_is_printed_as_exactly() -> None:
    plan = replace(PLAN, guard=loss(0.25), regression=loss(1))
    found = decided(rounds(3, -0.2, 0.2, apart=1.6), plan)
    assert "small -0.20 % may fall below -0.25 %" in found.reasons


@pytest.mark.parametrize("excess", [0.0001, 0.00001, 0.0000005])
def test_a_mean_time_that_surely_loses_is_printed_below_its_guard(excess: float) -> None:
    """The upper end at -.5 % less a hair."""
    search, again = rounds(2, 2, 0.2), fresh(2, 2, 0.2)[:6]
    for each in (*search, *again):
        each.mean_effect.update(big=-loss(0.5) - excess, small=-loss(0.5) - excess)
    found = decided([*search, *again], PLAN)
    assert found.reasons[0].startswith("the mean time of all iterations loses:")
    assert problems(found, PLAN) == []
