"""The interval against the density of Student's t itself."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.verdict.statistics import (
    T_95,
    T_975,
    T_995,
    T_9995,
    autocorrelation,
    interval,
    lower_bound,
    percent,
    t95,
    t995,
    t999,
    t_interval,
    upper_bound,
)

EFFECTS = st.lists(st.floats(-0.5, 0.5), min_size=2, max_size=60)


def two_sided_share(t: float, freedom: int) -> float:
    """P(|T| <= t) by Simpson's rule over the density; `t` in standard units."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)

    def density(x: float) -> float:
        return float(scale * (1 + x * x / freedom) ** (-(freedom + 1) / 2))

    steps = 2000
    width = t / steps
    inner = math.fsum((4 if i % 2 else 2) * density(i * width) for i in range(1, steps))
    return 2 * width / 3 * (density(0) + inner + density(t))


def quantile(freedom: int, share: float = 0.95) -> float:
    """Bisect for the t that holds `share` between -t and t."""
    low, high = 1.0, 20.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided_share(middle, freedom) < share else (low, middle)
    return (low + high) / 2


@pytest.mark.parametrize("freedom", range(1, len(T_975) + 1))
def test_the_table_agrees_with_the_integral_of_the_density(freedom: int) -> None:
    assert T_975[freedom - 1] == pytest.approx(quantile(freedom), abs=1e-4)
    assert T_95[freedom - 1] == pytest.approx(quantile(freedom, 0.90), abs=1e-4)


def test_one_sided_bounds_lie_around_the_mean() -> None:
    interval = t_interval([1.0, 2.0, 3.0, 4.0])
    assert lower_bound(interval, t95(4)) == pytest.approx(2.5 - T_95[2] * interval.sd / 2)
    assert upper_bound(interval, 0.0) == interval.mean
    assert t95(1000) == T_95[-1]


def test_the_interval_of_three_known_rounds() -> None:
    interval = t_interval([0.01, 0.02, 0.03])
    assert interval.n == 3
    assert interval.mean == pytest.approx(0.02)
    assert interval.sd == pytest.approx(0.01)
    assert interval.high - interval.mean == pytest.approx(4.3027 * 0.01 / math.sqrt(3))
    assert interval.mean - interval.low == pytest.approx(interval.high - interval.mean)


def test_beyond_the_table_the_interval_is_wider_than_the_exact_one_never_narrower() -> None:
    effects = [(-1) ** i * 0.01 for i in range(100)]
    interval = t_interval(effects)
    exact = quantile(99) * interval.sd / math.sqrt(100)
    assert exact < interval.high - interval.mean < 1.05 * exact


@given(EFFECTS)
def test_the_mean_lies_in_its_interval(effects: list[float]) -> None:
    interval = t_interval(effects)
    assert interval.low <= interval.mean <= interval.high
    assert interval.sd >= 0


@given(EFFECTS)
def test_turning_every_sign_mirrors_the_interval(effects: list[float]) -> None:
    one, other = t_interval(effects), t_interval([-effect for effect in effects])
    assert (other.low, other.mean, other.high, other.sd) == (-one.high, -one.mean, -one.low, one.sd)


@given(st.lists(st.floats(-0.5, 0.5), min_size=2, max_size=30), st.randoms())
def test_the_order_of_the_rounds_does_not_matter(effects: list[float], draw: "object") -> None:
    shuffled = list(effects)
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    assert t_interval(shuffled) == t_interval(effects)


@pytest.mark.parametrize("effects", [[], [0.1]])
def test_fewer_than_two_rounds_have_no_interval(effects: list[float]) -> None:
    with pytest.raises(ValueError, match="at least two"):
        t_interval(effects)


def test_equal_rounds_have_an_interval_without_width() -> None:
    interval = t_interval([0.25] * 5)
    assert (interval.low, interval.high, interval.sd) == (0.25, 0.25, 0.0)


def test_percent_is_of_throughput() -> None:
    assert percent(math.log(1.02)) == pytest.approx(2.0)
    assert percent(0.0) == 0.0
    assert percent(math.log(0.5)) == pytest.approx(-50.0)


@pytest.mark.parametrize("freedom", range(3, len(T_9995) + 1))
def test_the_table_of_the_warning_agrees_with_the_integral_too(freedom: int) -> None:
    assert t999(freedom + 1) == pytest.approx(quantile(freedom, 0.999), abs=1e-3)


@pytest.mark.parametrize("freedom", range(2, len(T_995) + 1))
def test_the_table_of_a_fading_gain_agrees_with_the_integral_too(freedom: int) -> None:
    assert t995(freedom + 1) == pytest.approx(quantile(freedom, 0.99), abs=5e-4)
    assert t995(freedom + 1) == T_995[freedom - 1]


def test_an_interval_has_two_critical_values_and_merges_neighbours() -> None:
    """Means of pairs 2, 4, 6: mean 4, sd 2; the odd one out is dropped."""
    found = interval([1.0, 3.0, 3.0, 5.0, 5.0, 7.0, 99.0], 3, 6, merged=2)
    assert (found.n, found.rounds, found.mean, found.sd) == (3, 6, 4.0, 2.0)
    assert found.low == pytest.approx(4 - 3 * 2 / math.sqrt(3))
    assert found.high == pytest.approx(4 + 6 * 2 / math.sqrt(3))
    assert found.round_sd == pytest.approx(2 * math.sqrt(2))
    with pytest.raises(ValueError, match="at least two rounds, found 1 of 2"):
        interval([1.0, 2.0, 3.0], 1, 1, merged=2)


def test_an_autocorrelation_is_one_for_what_drifts_and_none_for_what_does_not_move() -> None:
    assert autocorrelation([float(i) for i in range(1000)]) == pytest.approx(1.0, abs=0.01)
    assert autocorrelation([(-1.0) ** i for i in range(1000)]) == pytest.approx(-1.0, abs=0.01)
    assert autocorrelation([3.0] * 5) == 0.0
