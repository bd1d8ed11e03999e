"""From samples to effects, in both styles."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.protocol.model import Style
from expctl.domain.verdict.samples import MalformedRound, Sample, Side, median_ns, round_effects

TIMES = st.lists(st.integers(1_000, 10_000_000), min_size=1, max_size=9)
BIG = 10_000_000_000  # ns; large, so that rounding to whole ns is below 1e-9


def sample(
    side: Side, ns: list[int], *, launch: int = 0, style: Style = Style.LAUNCH, visit: int = 1, round: int = 0
) -> Sample:
    return Sample(round=round, launch=launch, side=side, size="n", style=style, visit=visit, ns=tuple(ns), order="ABBA")


def launches(times_of: Callable[[int, Side], list[int]], order: str) -> list[Sample]:
    sides = {"A": Side.BASELINE, "B": Side.CANDIDATE}
    return [sample(sides[letter], times_of(i, sides[letter]), launch=i) for i, letter in enumerate(order)]


def fine(baseline: list[int], candidate: list[int], visit: int = 1) -> list[Sample]:
    return [
        sample(Side.BASELINE, baseline, style=Style.FINE, visit=visit),
        sample(Side.CANDIDATE, candidate, launch=1, style=Style.FINE, visit=visit),
    ]


def effect(samples: list[Sample]) -> float:
    (only,) = round_effects(samples)
    return only.effect["n"]


@pytest.mark.parametrize("order", ["ABBA", "BAAB"])
def test_launches_show_a_known_slow_down_exactly(order: str) -> None:
    times = {Side.BASELINE: [2_000] * 3, Side.CANDIDATE: [4_000] * 3}
    assert effect(launches(lambda _, side: times[side], order)) == pytest.approx(-math.log(2), abs=1e-12)


def test_fine_quads_show_a_known_slow_down_exactly() -> None:
    assert effect(fine([1_000] * 8, [1_250] * 8)) == pytest.approx(-math.log(1.25), abs=1e-12)


def test_a_launch_counts_by_the_median_of_its_iterations() -> None:
    spiky = [1_000, 1_000, 9_000_000]
    assert effect(launches(lambda _, side: spiky if side is Side.BASELINE else [1_000] * 3, "ABBA")) == 0.0


def test_a_fine_round_counts_by_the_median_of_its_quads() -> None:
    baseline = [1_000, 1_000, 1_000, 1_000, 9_000_000, 9_000_000]  # three quads, the last one disturbed
    assert effect(fine(baseline, [1_000] * 6)) == 0.0


def test_a_visit_of_several_iterations_belongs_to_one_quad() -> None:
    one_quad = fine([1_000, 1_000, 4_000, 4_000], [1_000] * 4, visit=2)
    two_quads = fine([1_000, 1_000, 4_000, 4_000], [1_000] * 4, visit=1)
    assert effect(one_quad) == pytest.approx(math.log(2))
    assert effect(two_quads) == pytest.approx(math.log(2))  # the median of ln 1 and ln 4
    assert effect(fine([1_000, 1_000, 4_000, 4_000, 4_000, 4_000], [1_000] * 6, visit=1)) == pytest.approx(math.log(4))


@given(st.lists(TIMES, min_size=4, max_size=4))
def test_swapping_the_labels_turns_the_sign_of_launches(times: list[list[int]]) -> None:
    one = launches(lambda i, _: times[i], "ABBA")
    other = [replace(s, side=Side.CANDIDATE if s.side is Side.BASELINE else Side.BASELINE) for s in one]
    assert effect(other) == pytest.approx(-effect(one), abs=1e-12)


@given(st.lists(st.tuples(st.integers(1, 10**9), st.integers(1, 10**9)), min_size=1, max_size=6))
def test_swapping_the_labels_turns_the_sign_of_quads(pairs: list[tuple[int, int]]) -> None:
    baseline = [time for pair in pairs for time in pair]
    candidate = list(reversed(baseline))
    assert effect(fine(candidate, baseline)) == pytest.approx(-effect(fine(baseline, candidate)), abs=1e-9)


@given(st.lists(TIMES, min_size=4, max_size=4), st.integers(2, 1000))
def test_a_clock_that_runs_faster_changes_nothing(times: list[list[int]], factor: int) -> None:
    plain = launches(lambda i, _: times[i], "ABBA")
    scaled = [replace(s, ns=tuple(factor * ns for ns in s.ns)) for s in plain]
    assert effect(scaled) == pytest.approx(effect(plain), abs=1e-9)


@given(st.floats(-0.1, 0.1), st.floats(-0.1, 0.1), st.sampled_from(["ABBA", "BAAB"]))
def test_linear_drift_of_the_machine_cancels(slope: float, gain: float, order: str) -> None:
    def times(i: int, side: Side) -> list[int]:
        return [round(BIG * math.exp(slope * i - (gain if side is Side.CANDIDATE else 0)))]

    assert effect(launches(times, order)) == pytest.approx(gain, abs=1e-8)


@given(st.floats(-0.01, 0.01), st.integers(1, 5))
def test_linear_drift_cancels_inside_every_quad(slope: float, quads: int) -> None:
    at = [round(BIG * math.exp(slope * i)) for i in range(4 * quads)]
    baseline = [at[i] for i in range(4 * quads) if i % 4 in (0, 3)]
    candidate = [at[i] for i in range(4 * quads) if i % 4 in (1, 2)]
    assert effect(fine(baseline, candidate)) == pytest.approx(0.0, abs=1e-8)


def test_a_tainted_round_says_nothing() -> None:
    good = fine([1_000] * 2, [1_000] * 2)
    odd = [replace(s, round=1, taints=("ncu",)) for s in fine([9_000] * 2, [1_000] * 2)]
    assert [each.round for each in round_effects([*odd, *good])] == [0]
    assert median_ns([*odd, *good], side=Side.BASELINE, size="n") == 1_000


def test_rounds_come_in_order_whatever_the_order_of_samples() -> None:
    rounds = [[replace(s, round=i) for s in fine([1_000 + i] * 2, [1_000] * 2)] for i in range(4)]
    mixed = [s for group in reversed(rounds) for s in reversed(group)]
    assert [each.round for each in round_effects(mixed)] == [0, 1, 2, 3]
    assert round_effects(mixed) == round_effects([s for group in rounds for s in group])


def test_every_size_has_its_own_effect() -> None:
    small = [replace(s, size="small") for s in fine([2_000] * 2, [1_000] * 2)]
    (only,) = round_effects([*fine([1_000] * 2, [1_000] * 2), *small])
    assert only.effect == {"n": 0.0, "small": pytest.approx(math.log(2))}


BAD = {
    "no candidate": [sample(Side.BASELINE, [1_000])],
    "no baseline": [sample(Side.CANDIDATE, [1_000])],
    "three launches": launches(lambda _i, _s: [1_000], "ABB"),
    "no iterations": launches(lambda _i, _s: [], "ABBA"),
    "a time of zero": launches(lambda _i, _s: [0], "ABBA"),
    "a negative time": launches(lambda _i, _s: [-1, 5, 5], "ABBA"),
    "half a quad": fine([1_000] * 3, [1_000] * 3),
    "no quad": fine([], []),
    "a quad with a zero": fine([1_000, 0], [1_000, 1_000]),
}


@pytest.mark.parametrize("name", BAD)
def test_a_malformed_round_is_refused(name: str) -> None:
    with pytest.raises(MalformedRound):
        round_effects(BAD[name])


def test_sides_with_different_numbers_of_quads_are_refused() -> None:
    with pytest.raises(ValueError):  # noqa: PT011  MalformedRound is one; zip(strict) raises its parent
        round_effects(fine([1_000] * 4, [1_000] * 2))


def test_rounds_of_different_sizes_are_malformed() -> None:
    other = [replace(each, size="m", round=1) for each in fine([1_000] * 8, [1_000] * 8)]
    with pytest.raises(MalformedRound, match="round 1 has sizes"):
        round_effects([*fine([1_000] * 8, [1_000] * 8), *other])


def test_a_round_of_two_pairs_is_malformed() -> None:
    one, other = fine([1_000] * 8, [1_000] * 8)
    with pytest.raises(MalformedRound, match="two pairs"):
        round_effects([replace(one, pair=0), replace(other, pair=3)])
