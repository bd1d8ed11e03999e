"""More of the steady state, kept from whoever mends it: random series against the rule as it is written."""

import math

import numpy
import pytest

from expctl.domain.machine.burn_in import DeviceReading
from expctl.domain.machine.steady_state import state_of
from tests.domain.machine.test_steady_state_cases import readings, sawtooth, state, steady_at


def spread(found: list[DeviceReading], what: str, now: float, window: float) -> float:
    """How far the medians of the fifths lie apart; infinite where one has none."""
    fifths = []
    for part in range(5):
        start = now - window + part * window / 5
        values = [float(getattr(each, what)) for each in found if start < each.at_s <= start + window / 5]
        if not values:
            return math.inf
        fifths.append(float(numpy.median(values)))
    return max(fifths) - min(fifths)


def test_random_series_end_as_the_text_says() -> None:
    draw, steady = numpy.random.default_rng(2024), 0
    for _ in range(400):
        window, now = float(draw.choice([1.0, 5.0, 12.0])), 50.0
        moments = sorted(float(at) for at in draw.uniform(now - 2 * window, now, int(draw.integers(8, 120))))
        wander = numpy.cumsum(draw.normal(0, float(draw.choice([0.3, 1, 4])), len(moments)))
        found = [
            DeviceReading(
                device="x", at_s=at, clock_mhz=1800.0 + float(off), temperature_c=60 + float(off) / 9, busy_percent=99
            )
            for at, off in zip(moments, wander, strict=True)
        ]
        apart, warmer = (spread(found, what, now, window) for what in ("clock_mhz", "temperature_c"))
        if 17 < apart < 19 or 1.9 < warmer < 2.1:
            continue
        answer = state_of(found, since_s=10, now_s=now, window_s=window, clock_percent=1.0, temperature_c=2.0)
        assert answer.steady is (apart <= 18 and warmer <= 2)
        steady += answer.steady
    assert 40 < steady < 360


@pytest.mark.parametrize("cards", [("a", "b"), ("b", "a")])
def test_of_two_cards_at_work_the_busier_is_judged(cards: tuple[str, str]) -> None:
    still = readings(steady_at(1500), device=cards[0], busy=70)
    restless = readings(sawtooth(5, 1700, 1980), device=cards[1], busy=99)
    assert not state([*still, *restless]).steady
    calm = readings(steady_at(1500), device=cards[0], busy=99)
    loud = readings(sawtooth(5, 1700, 1980), device=cards[1], busy=70)
    found = state([*loud, *calm])
    assert (found.steady, found.clock_mhz) == (True, 1500)


def test_a_busier_card_that_fell_silent_is_not_replaced_by_its_neighbour() -> None:
    silent = readings(steady_at(1900), device="a", busy=99, end=93)
    idle = readings(steady_at(200), device="b", busy=1)
    assert not state([*idle, *silent]).steady
