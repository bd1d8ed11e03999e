"""Steady or not, by docs/HARNESS.md, "The burn-in": series of clock and temperature with the answer that the text gives.

Over the last window the medians of the clock in each fifth lie within `clock_percent` % of each other, those of the
temperature within `temperature_c` degrees. Without a reading for a window, both are unknown.
"""

import math
from collections.abc import Callable, Sequence

import numpy
import pytest

from expctl.domain.machine.burn_in import BurnIn, DeviceReading
from expctl.domain.machine.steady_state import state_of

Course = Callable[[float], float]
EVERY_S, NOW_S, WINDOW_S = 0.25, 100.0, 5.0


def steady_at(value: float) -> Course:
    return lambda _at: value


def readings(
    clock: Course,
    heat: Course = lambda _at: 60,
    *,
    start: float = 40,
    end: float = NOW_S,
    device: str = "card",
    busy: float = 95,
) -> list[DeviceReading]:
    """A reading every quarter of a second, a little before each."""
    moments = [float(at) for at in numpy.arange(start + EVERY_S, end + EVERY_S / 2, EVERY_S) - 0.01]
    return [
        DeviceReading(device=device, at_s=at, clock_mhz=clock(at), temperature_c=heat(at), busy_percent=busy) for at in moments
    ]


def state(
    found: Sequence[DeviceReading], *, since: float = 40, clock: float = 1.0, heat: float = 2.0, window: float = WINDOW_S
) -> BurnIn:
    return state_of(found, since_s=since, now_s=NOW_S, window_s=window, clock_percent=clock, temperature_c=heat)


def in_fifths(*values: float) -> Course:
    """One value for each fifth of the last window; before it, the first."""
    return lambda at: values[min(4, max(0, math.floor((at - (NOW_S - WINDOW_S)) / (WINDOW_S / 5))))]


def sawtooth(period: float, low: float, high: float) -> Course:
    return lambda at: low + (high - low) * ((at % period) / period)


def random_walk(step: float) -> Course:
    walk = 1800 + numpy.cumsum(numpy.random.default_rng(1616).normal(0, step, 1000))
    return lambda at: float(walk[int(at * 4)])


def jitter(sd: float) -> Course:
    noise = numpy.random.default_rng(1617).normal(0, sd, 1000)
    return lambda at: 1800 + float(noise[int(at * 4)])


CLOCKS: dict[str, tuple[Course, bool]] = {
    "still": (steady_at(1980), True),
    "a jitter of a tenth of a percent": (jitter(2), True),
    "two steps in turn at the power limit": (lambda at: 1980 if int(at * 4) % 2 else 1755, True),
    "one reading of each fifth far lower": (lambda at: 1200 if int(at * 4) % 4 == 0 else 1980, True),
    "a sawtooth within each fifth": (sawtooth(1.0, 1600, 1980), True),
    "a sawtooth as long as the window": (sawtooth(5.0, 1700, 1980), False),
    "a sawtooth of two windows": (sawtooth(10.0, 1700, 1980), False),
    "a sawtooth of half a minute": (sawtooth(30.0, 1700, 1980), False),
    "a slow sawtooth of 1 % a minute": (sawtooth(60.0, 1962, 1980), True),
    "falling fast": (lambda at: 2500 - 10 * (at - 40), False),
    "falling slowly": (lambda at: 2000 - (at - 40), True),
    "fell long ago": (lambda at: 1980 if at < 90 else 1755, True),
    "fell in the window": (lambda at: 1980 if at < 97 else 1755, False),
    "fell in the last fifth": (lambda at: 1980 if at < 99.2 else 1755, False),
    "one fifth lower by 2 %": (in_fifths(1800, 1800, 1764, 1800, 1800), False),
    "one fifth higher by 2 %": (in_fifths(1836, 1800, 1800, 1800, 1800), False),
    "four fifths rising, .2 % each": (in_fifths(1800, 1803.6, 1807.2, 1810.8, 1814.4), True),
    "four fifths rising, .4 % each": (in_fifths(1800, 1807.2, 1814.4, 1821.6, 1828.8), False),
    "at the limit": (in_fifths(1800, 1800, 1818, 1800, 1800), True),
    "just beyond the limit": (in_fifths(1800, 1800, 1819, 1800, 1800), False),
    "wandering": (random_walk(25), False),
}


@pytest.mark.parametrize("name", CLOCKS)
def test_clocks(name: str) -> None:
    clock, steady = CLOCKS[name]
    found = state(readings(clock))
    assert (found.steady, found.trouble, found.seconds) == (steady, "", 60.0)
    window = sorted(clock(each.at_s) for each in readings(clock, start=95))
    assert window[0] <= found.clock_mhz <= window[-1]
    assert found.clock_mhz == pytest.approx(float(numpy.median(window)), rel=0.01)


HEATS: dict[str, tuple[Course, bool]] = {
    "still": (steady_at(61), True),
    "at the limit": (in_fifths(60, 60, 61, 62, 62), True),
    "just beyond the limit": (in_fifths(60, 60, 61, 62, 62.1), False),
    "warming by 3 degrees in a window": (lambda at: 30 + 0.75 * (at - 40), False),
    "warming by a degree in a window": (lambda at: 30 + 0.2 * (at - 40), True),
    "cooling in the last fifth": (in_fifths(70, 70, 70, 70, 66), False),
    "one reading is 90 degrees": (lambda at: 90 if 97.2 < at < 97.45 else 61, True),
    "warm long ago": (lambda at: 30 if at < 94.9 else 61, True),
}


@pytest.mark.parametrize("name", HEATS)
def test_temperatures(name: str) -> None:
    heat, steady = HEATS[name]
    found = state(readings(steady_at(1980), heat))
    assert (found.steady, found.clock_mhz) == (steady, 1980)


@pytest.mark.parametrize(("clock_ok", "heat_ok"), [(True, True), (True, False), (False, True), (False, False)])
def test_both_have_to_be_steady(clock_ok: bool, heat_ok: bool) -> None:
    clock = steady_at(1980) if clock_ok else sawtooth(5, 1700, 1980)
    heat = steady_at(61) if heat_ok else in_fifths(60, 61, 62, 63, 64)
    assert state(readings(clock, heat)).steady is (clock_ok and heat_ok)


@pytest.mark.parametrize(("percent", "steady"), [(1.9, False), (2.1, True), (50, True), (0.0, False)])
def test_the_limits_are_those_of_the_protocol(percent: float, steady: bool) -> None:
    fifths = readings(in_fifths(1800, 1800, 1800, 1836, 1800), in_fifths(60, 60, 60, 61, 60))
    assert state(fifths, clock=percent).steady is steady
    assert state(fifths, clock=50, heat=0.5).steady is False
    assert state(readings(steady_at(1800)), clock=0.0, heat=0.0).steady


@pytest.mark.parametrize(("since", "steady"), [(94.9, True), (95.0, True), (95.1, False), (99.9, False)])
def test_not_before_a_whole_window_at_work(since: float, steady: bool) -> None:
    assert state(readings(steady_at(1980)), since=since).steady is steady


# ------------------------------------------------------------------ readings that are missing


def unknown(found: BurnIn, window: str = "5") -> bool:
    return (found.steady, found.clock_mhz, found.temperature_c, found.trouble) == (
        *(False, 0, 0),
        f"no sensor read them for {window} s",
    )


def test_without_readings_both_are_unknown() -> None:
    assert unknown(state([]))
    assert unknown(state([], window=0.5), "0.5")
    assert str(state([])) == "at an unknown clock and temperature: no sensor read them for 5 s"


@pytest.mark.parametrize(("end", "is_unknown"), [(99.5, False), (98.0, False), (95.5, False), (94.9, True), (60.0, True)])
def test_readings_that_stop(end: float, is_unknown: bool) -> None:
    found = state(readings(steady_at(1980), end=end))
    assert unknown(found) is is_unknown
    if end < 99:
        assert not found.steady


@pytest.mark.parametrize("gap", [0, 1, 2, 3, 4])
def test_a_fifth_without_a_reading_is_not_steady(gap: int) -> None:
    from_s = NOW_S - WINDOW_S + gap
    kept = [each for each in readings(steady_at(1980)) if not from_s <= each.at_s < from_s + 1]
    found = state(kept)
    assert (found.steady, found.trouble, found.clock_mhz) == (False, "", 1980)


def test_one_reading_in_each_fifth_is_enough() -> None:
    assert state([each for number, each in enumerate(readings(steady_at(1980))) if number % 4 == 1]).steady


def test_readings_in_another_order_are_the_same() -> None:
    found = readings(jitter(3))
    assert state(found[::-1]) == state(found)


# ------------------------------------------------------------------ more than one card


def test_the_card_that_works_is_judged_and_no_other() -> None:
    idle = readings(sawtooth(5, 300, 1980), sawtooth(5, 30, 80), device="a", busy=2)
    for cards in ([*idle, *readings(steady_at(1980))], [*readings(steady_at(1980)), *idle]):
        found = state(cards)
        assert (found.steady, found.clock_mhz, found.temperature_c) == (True, 1980, 60)
    restless = readings(sawtooth(5, 1700, 1980), device="a")
    still = readings(steady_at(345), device="b", busy=0)
    assert not state([*still, *restless]).steady


def test_a_busy_card_that_is_no_longer_read_is_not_taken_for_the_idle_one() -> None:
    still = readings(steady_at(345), steady_at(30), device="idle", busy=0)
    found = state([*readings(steady_at(1980), end=90), *still])
    assert found.clock_mhz != 345
    assert not found.steady


# ------------------------------------------------------------------ words


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (BurnIn(seconds=60.0, clock_mhz=1755, temperature_c=61), "at 1,755 MHz, 61 C, not steady after 60 s"),
        (BurnIn(seconds=5.2, steady=True, clock_mhz=1980, temperature_c=44), "at 1,980 MHz, 44 C, after 5 s"),
        (BurnIn(seconds=5, trouble="baseline: no device"), "at an unknown clock and temperature: baseline: no device"),
    ],
)
def test_how_it_ended(ended: BurnIn, words: str) -> None:
    assert str(ended) == words
