"""Figures of one repetition, and the causes that the form of its times suggests."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.suite.spread import spread_of

WARMUPS = [9000.0, 120.0, 101.0]
STEADY = [100.0 + at % 3 for at in range(20)]


@given(st.lists(st.floats(0.1, 1e6), min_size=13, max_size=80))
def test_figures_are_those_of_numpy(times: list[float]) -> None:
    spread, counted = spread_of(times, 3), np.array(times[3:])
    assert spread.first_us == times[0]
    assert spread.calls == len(times) - 3
    found = [spread.mean_us, spread.sd_us, spread.median_us, spread.p90_us, spread.p99_us]
    wanted = [counted.mean(), counted.std(ddof=1), np.median(counted), *np.percentile(counted, [90, 99])]
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-6)


def test_the_first_calls_never_count() -> None:
    slow, quick = spread_of([*WARMUPS, *STEADY], 3), spread_of([100.0] * 3 + STEADY, 3)
    assert (slow.mean_us, slow.sd_us) == (quick.mean_us, quick.sd_us)
    assert (slow.first_us, quick.first_us) == (9000.0, 100.0)
    assert slow.causes == ""


MIXED = [100.0, 150.0] * 10
random.Random(1).shuffle(MIXED)


@pytest.mark.parametrize(
    ("counted", "said"),
    [
        ([*STEADY[:15], 900.0, *STEADY[15:]], "1 of 21 calls took over 1.5 times the median: another process"),
        ([300.0 / (at + 3) + 50 for at in range(20)], "the calls get faster: too few warm-ups"),
        ([100.0 * 1.03**at for at in range(20)], "the calls get slower: heat"),
        (MIXED, "two speeds, about 100 and 150 us"),
        ([100.0, 130.0, 70.0, 110.0, 160.0, 90.0, 60.0, 140.0, 120.0, 80.0], "all calls differ: other work"),
    ],
)
def test_causes_of_a_large_spread(counted: list[float], said: str) -> None:
    spread = spread_of([*WARMUPS, *counted], 3)
    assert spread.sd_us > 0.1 * spread.mean_us
    assert spread.causes.startswith(said), spread.causes


@pytest.mark.parametrize(("high", "flagged"), [(121.0, False), (123.0, True)])
def test_the_limit_is_10_percent(high: float, flagged: bool) -> None:
    spread = spread_of([*WARMUPS, *[100.0, high] * 10], 3)  # sd is about half the distance
    assert bool(spread.causes) is flagged
