"""Natural breaks against trying every split, and Ashman's D against its definition."""

import math
import random
import statistics
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.verdict.natural_breaks import group_of, natural_breaks, separation


def cost(groups: list[list[float]]) -> float:
    return math.fsum((value - statistics.fmean(group)) ** 2 for group in groups for value in group)


@given(st.lists(st.integers(-50, 50), min_size=4, max_size=9, unique=True), st.integers(2, 3))
def test_no_other_split_has_smaller_squares(values: list[int], count: int) -> None:
    ordered = sorted(map(float, values))
    splits = [
        [ordered[start:end] for start, end in pairwise([0, *ends, len(ordered)])]
        for ends in combinations(range(1, len(ordered)), count - 1)
    ]
    least = min(map(cost, splits))
    limits = natural_breaks(values, count)
    best = [split for split in splits if cost(split) <= least + 1e-9]
    middles = [[statistics.median(group) for group in split] for split in best]
    assert limits in [tuple((lower + upper) / 2 for lower, upper in pairwise(each)) for each in middles]


def test_many_values_are_split_where_few_would_be() -> None:
    draw = random.Random(1)
    values = [draw.gauss(level, 0.01) for level in (0.0, 0.1, 0.3) for _ in range(3000)]
    assert natural_breaks(values, 3) == pytest.approx((0.05, 0.2), abs=0.002)
    assert [group_of(value, (0.05, 0.2)) for value in (0.0, 0.06, 0.3)] == [0, 1, 2]


def test_values_far_from_zero_lose_no_digits() -> None:
    assert natural_breaks([1e9, 1e9 + 1, 1e9 + 10, 1e9 + 11], 2) == (1e9 + 5.5,)


def test_fewer_values_than_groups_are_refused() -> None:
    with pytest.raises(ValueError, match="1 values make no 2 groups"):
        natural_breaks([1.0], 2)


@pytest.mark.parametrize(
    ("inverse", "expected"),
    [
        (statistics.NormalDist().inv_cdf, 2.2),
        (lambda share: share, 2.7),
        (lambda share: math.sin(math.pi * (share - 0.5)), 3.5),
    ],
    ids=["normal", "uniform", "sine wave"],
)
def test_the_separation_of_halves_of_one_mode_is_the_documented_one(inverse: "object", expected: float) -> None:
    values = [inverse((index + 0.5) / 4000) for index in range(4000)]  # type: ignore[operator]
    assert separation(values[:2000], values[2000:]) == pytest.approx(expected, abs=0.05)


def test_modes_of_equal_values_are_infinitely_far_apart() -> None:
    assert separation([1.0, 1.0], [2.0, 2.0]) == math.inf
