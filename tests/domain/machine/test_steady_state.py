"""When the clock and temperature of a card count as steady."""

from collections.abc import Callable, Iterable

import pytest

from expctl.domain.machine.burn_in import BurnIn, DeviceReading
from expctl.domain.machine.steady_state import state_of


def reading(
    at_s: float, clock_mhz: float = 1800, temperature_c: float = 60, device: str = "gpu", busy: float = 90
) -> DeviceReading:
    return DeviceReading(device=device, at_s=at_s, clock_mhz=clock_mhz, temperature_c=temperature_c, busy_percent=busy)


def state(readings: Iterable[DeviceReading], now_s: float = 20.0) -> BurnIn:
    return state_of(list(readings), since_s=10.0, now_s=now_s, window_s=5.0, clock_percent=1.0, temperature_c=2.0)


Course = Callable[[int], float]


def every_quarter(clock: Course = lambda _: 1800, heat: Course = lambda _: 60) -> list[DeviceReading]:
    """Readings at 15.25, 15.5, ..., 20 s."""
    return [reading(15 + n / 4, clock(n), heat(n)) for n in range(1, 21)]


STATES = {
    "still": (every_quarter(), True),
    "the clock drifts by 1 %": (every_quarter(lambda n: 1800 - n), True),
    "the clock drifts by 2 %": (every_quarter(lambda n: 1800 - 2 * n), False),
    "the clock jumps to and fro by 4 % at the power limit": (every_quarter(lambda n: 1800 if n % 4 else 1728), True),
    "the clock fell in the last second": (every_quarter(lambda n: 1800 if n < 17 else 1700), False),
    "it warms by 2 degrees": (every_quarter(heat=lambda n: 60 + n // 10), True),
    "it warms by 4 degrees": (every_quarter(heat=lambda n: 60 + n // 5), False),
    "no reading in the first second": (every_quarter()[4:], False),
    "no reading in the last second": (every_quarter()[:-5], False),
    "older readings don't count": ([reading(14, 900, 30), *every_quarter()], True),
    "an idle card beside it doesn't": (
        [*every_quarter(), *(reading(15 + n, 90 * n, 30, "idle", 1) for n in range(6))],
        True,
    ),
}


@pytest.mark.parametrize("name", STATES)
def test_what_is_steady(name: str) -> None:
    readings, steady = STATES[name]
    found = state(readings)
    assert (found.steady, found.trouble, found.seconds) == (steady, "", 10.0)
    assert 1700 <= found.clock_mhz <= 1800


def test_nothing_is_steady_before_a_whole_window_is_over() -> None:
    quick = [reading(10 + n / 4) for n in range(1, 21)]
    assert not state(quick, now_s=14.9).steady
    assert state(quick, now_s=15.0).steady


def test_how_it_ended_in_words() -> None:
    assert str(state(every_quarter())) == "at 1,800 MHz, 60 C, after 10 s"
    assert str(state(every_quarter()[4:])) == "at 1,800 MHz, 60 C, not steady after 10 s"
    assert str(state([reading(15)])) == "at an unknown clock and temperature: no sensor read them for 5 s"
