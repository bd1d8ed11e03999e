"""States of the machine: found where the machine has them, on both sides, and rarely in noise of one mode.

`EXPCTL_TESTS_LONG=1 pytest -s tests/domain/verdict/test_machine_states.py` draws fifty times as many and prints the rates.
"""

import math
import os
import random
from collections.abc import Callable
from itertools import product

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.figures import states_text
from expctl.domain.experiment.machine_times import TimesOfSize
from expctl.domain.protocol.model import Style
from expctl.domain.verdict.machine_states import last_session, times_by_state
from expctl.domain.verdict.samples import Sample, Session, Side, round_effects

LONG = "EXPCTL_TESTS_LONG" in os.environ
FAST_NS, SLOW_NS = 2_050_000, 2_750_000  # of the issue: n=512 on the CPU
ORDER = (Side.BASELINE, Side.CANDIDATE, Side.CANDIDATE, Side.BASELINE)
Noise = Callable[[random.Random], float]
"""Noise in ln t with a standard deviation of about 1."""

FAMILIES: dict[str, Noise] = {
    "normal": lambda draw: draw.gauss(0, 1),
    "lognormal tail": lambda draw: math.exp(draw.gauss(0, 0.8)) - 1,
    "t with 3 degrees of freedom": lambda draw: draw.gauss(0, 1) / math.sqrt(draw.gammavariate(1.5, 2)),
    "uniform": lambda draw: draw.uniform(-1.7, 1.7),
    "exponential": lambda draw: draw.expovariate(1),
    "one in fifty slow": lambda draw: draw.gauss(0, 0.5) + (10 * draw.random() if draw.random() < 0.02 else 0),
}
DRIFTS: dict[str, Callable[[int, int, list[float]], float]] = {
    "no drift": lambda _number, _rounds, _steps: 0.0,
    "slow drift": lambda number, rounds, _steps: 5 * number / rounds,
    "wave": lambda number, rounds, _steps: 3 * math.sin(2 * math.pi * number / rounds),
    "random walk": lambda number, _rounds, steps: math.fsum(steps[:number]),
}
Level = Callable[[int, int, Side, int], float]
"""ln of the time over the fast one, by round, launch, side and quad."""


def measured(style: Style, rounds: int, level: Level, quads: int = 20) -> list[Sample]:
    """The samples of a run: in style `fine` two iterations of a side in each quad."""
    found = []
    for number in range(rounds):
        for launch, side in enumerate(ORDER if style is Style.LAUNCH else ORDER[:2]):
            visits = range(quads if style is Style.FINE else 1)
            ns = [max(1, round(FAST_NS * math.exp(level(number, launch, side, quad)))) for quad in visits]
            times = tuple(each for each in ns for _ in range(2))
            sample = Sample(round=number, launch=launch, side=side, size="n", style=style, visit=1, ns=times, order="ABBA")
            found.append(sample)
    return found


def times_of(samples: list[Sample]) -> TimesOfSize:
    (found,) = times_by_state(samples, last_session(samples))
    return found


def noise_of_one_mode(draw: random.Random, family: str, drift: str, rounds: int, sd: float, shared: float) -> Level:
    noise = FAMILIES[family]
    common = [noise(draw) for _ in range(rounds)]

    def level(number: int, _launch: int, _side: Side, _quad: int) -> float:
        own = (1 - shared) * noise(draw) + shared * common[number]
        return sd * (own + DRIFTS[drift](number, rounds, common))

    return level


def states(draw: random.Random, share: float, unit: str, sides: tuple[Side, ...] = tuple(Side)) -> Level:
    """A machine in its slow state for `share` of its rounds, launches or quads, with 1 % noise; the candidate gains 2 %."""
    slow: dict[tuple[int, ...], bool] = {}

    def level(number: int, launch: int, side: Side, quad: int) -> float:
        key = {"round": (number,), "launch": (number, launch), "quad": (number, quad)}[unit]
        is_slow = slow.setdefault(key, draw.random() < share) and side in sides
        gain = 0.02 if side is Side.CANDIDATE else 0.0
        return math.log(SLOW_NS / FAST_NS) * is_slow - gain + draw.gauss(0, 0.01)

    return level


@pytest.mark.parametrize("style", Style)
def test_noise_of_one_mode_is_rarely_taken_for_states(style: Style) -> None:
    """At most 1 % of the runs of all families, with 1 % or 6 % noise, of a machine that drifts or doesn't."""
    draw, found, runs = random.Random(7), 0, 0
    times = (100 if style is Style.LAUNCH else 8) if LONG else (3 if style is Style.LAUNCH else 1)
    for family, drift, rounds, sd, shared in product(FAMILIES, DRIFTS, (4, 6, 10, 24), (0.01, 0.06), (0.0, 0.9)):
        for _ in range(times):
            level = noise_of_one_mode(draw, family, drift, rounds, sd, shared)
            found += len(times_of(measured(style, rounds, level)).states) > 1
            runs += 1
    print(f"\n{style}: states found in {found} of {runs} runs of one mode")
    assert found <= 0.01 * runs


@pytest.mark.parametrize(
    ("style", "unit"), [(Style.LAUNCH, "round"), (Style.LAUNCH, "launch"), (Style.FINE, "round"), (Style.FINE, "quad")]
)
@pytest.mark.parametrize(("rounds", "share", "least"), [(24, 0.5, 0.99), (46, 0.2, 0.8), (10, 0.5, 0.85)])
def test_clear_states_are_found(style: Style, unit: str, rounds: int, share: float, least: float) -> None:
    """2.05 against 2.75 ms with 1 % noise."""
    draw, runs = random.Random(11), 400 if LONG else 16
    shown = [times_of(measured(style, rounds, states(draw, share, unit))) for _ in range(runs)]
    found = [each for each in shown if len(each.states) == 2]
    print(f"\n{style}, by {unit}, {rounds} rounds, {share:.0%} slow: found in {len(found)} of {runs}")
    assert len(found) >= least * runs
    for each in found:
        fast, slow = each.states
        assert fast.baseline.ns == pytest.approx(FAST_NS, rel=0.01)
        assert slow.baseline.ns == pytest.approx(SLOW_NS, rel=0.02)
        assert slow.candidate.ns == pytest.approx(SLOW_NS / math.exp(0.02), rel=0.02)


@pytest.mark.parametrize(
    ("style", "unit"), [(Style.LAUNCH, "round"), (Style.LAUNCH, "launch"), (Style.FINE, "round"), (Style.FINE, "quad")]
)
@pytest.mark.parametrize("side", Side)
def test_the_slow_mode_of_one_side_is_an_effect_and_no_state(style: Style, unit: str, side: Side) -> None:
    draw = random.Random(13)
    for rounds, share in product((5, 24, 46), (0.2, 0.5)):
        assert len(times_of(measured(style, rounds, states(draw, share, unit, sides=(side,)))).states) == 1


def test_one_slow_round_is_no_state_and_two_of_twelve_are() -> None:
    def slow_in(*slow: int) -> TimesOfSize:
        draw = random.Random(3)
        return times_of(measured(Style.LAUNCH, 12, lambda n, _l, _s, _q: 0.3 * (n in slow) + draw.gauss(0, 0.005)))

    assert [len(slow_in(*slow).states) for slow in ((), (5,), (5, 8))] == [1, 1, 2]


def test_a_slow_tail_hides_no_states() -> None:
    draw = random.Random(21)
    level = states(draw, 0.5, "quad")

    def tailed(number: int, launch: int, side: Side, quad: int) -> float:
        return level(number, launch, side, quad) + (draw.uniform(0.6, 1.6) if draw.random() < 0.04 else 0)

    assert len(times_of(measured(Style.FINE, 12, tailed)).states) == 2


def test_states_less_than_five_percent_apart_are_not_told_apart() -> None:
    def apart(by: float) -> int:
        draw = random.Random(5)
        return len(times_of(measured(Style.LAUNCH, 20, lambda n, _l, _s, _q: by * (n % 2) + draw.gauss(0, 0.001))).states)

    assert (apart(math.log(1.04)), apart(math.log(1.06))) == (1, 2)


def test_three_states_are_three() -> None:
    draw = random.Random(9)
    found = times_of(measured(Style.LAUNCH, 24, lambda n, _l, _s, _q: 0.2 * (n % 3) + draw.gauss(0, 0.005)))
    assert [each.rounds for each in found.states] == [8, 8, 8]
    assert states_text(found).startswith("three states of the machine at n: 2.0")


def test_each_state_has_its_own_effect_and_rounds_between_them_are_mixed() -> None:
    """Rounds 0-9 fast with +5 %, 10-19 slow with -5 %, in 20-23 only the candidate's are slow."""
    draw = random.Random(17)

    def level(number: int, _launch: int, side: Side, _quad: int) -> float:
        candidate = side is Side.CANDIDATE
        slow = number >= 20 if candidate else 10 <= number < 20
        slow = slow or 10 <= number < 20
        gain = (-0.05 if slow else 0.05) * candidate
        return 0.3 * slow - gain + draw.gauss(0, 0.004)

    found = times_of(measured(Style.FINE, 24, level))
    fast, slow = found.states
    assert (fast.rounds, slow.rounds, found.mixed_rounds) == (10, 10, 4)
    assert fast.effect_percent is not None
    assert fast.effect_percent == pytest.approx(100 * math.expm1(0.05), abs=0.3)
    assert slow.effect_percent == pytest.approx(100 * math.expm1(-0.05), abs=0.3)
    assert fast.low_percent is not None
    assert fast.high_percent is not None
    assert fast.low_percent < fast.effect_percent < fast.high_percent
    assert found.main is fast


def test_the_effect_of_the_only_state_is_the_mean_of_the_rounds() -> None:
    draw = random.Random(19)
    for style in Style:
        samples = measured(style, 8, lambda _n, _l, side, _q: draw.gauss(0, 0.01) - 0.02 * (side is Side.CANDIDATE))
        (only,) = times_of(samples).states
        effects = [each.effect["n"] for each in round_effects(samples)]
        assert only.effect_percent == pytest.approx(100 * math.expm1(math.fsum(effects) / 8), abs=1e-3)
        assert (only.rounds, times_of(samples).mixed_rounds) == (8, 0)


def test_the_interval_of_a_median_is_that_of_the_sign_test() -> None:
    """Ranks 2 and 9 of 10 values, 98 %; of fewer than six, their range (docs: any table of the sign test)."""

    def interval(n: int) -> tuple[float, float, float]:
        samples = measured(Style.FINE, n, lambda number, _l, _s, _q: 0.001 * number)
        side = times_of(samples).states[0].baseline
        return tuple(round(math.log(ns / FAST_NS), 6) for ns in (side.low_ns, side.ns, side.high_ns))  # type: ignore[return-value]

    assert interval(10) == pytest.approx((0.001, 0.0045, 0.008), abs=2e-6)
    assert interval(6) == pytest.approx((0.0, 0.0025, 0.005), abs=2e-6)
    assert interval(4) == pytest.approx((0.0, 0.0015, 0.003), abs=2e-6)


def test_the_interval_of_a_median_holds_it_as_often_as_it_says() -> None:
    draw, runs = random.Random(23), 2000 if LONG else 200
    holds = 0
    for _ in range(runs):
        samples = measured(Style.FINE, 12, lambda _n, _l, _s, _q: draw.gauss(0, 0.01), quads=1)
        side = times_of(samples).states[0].baseline
        holds += side.low_ns <= FAST_NS <= side.high_ns
    assert holds >= 0.93 * runs


def test_only_the_rounds_asked_for_count_and_disturbed_launches_never() -> None:
    samples = measured(Style.FINE, 12, lambda n, _l, _s, _q: 0.3 * (n % 2) + 0.0001 * n)
    assert len(times_by_state(samples, range(12))[0].states) == 2
    assert len(times_by_state(samples, range(0, 12, 2))[0].states) == 1
    tainted = [replace(each, taints=("busy",)) if each.round % 2 else each for each in samples]
    assert len(times_by_state(tainted, range(12))[0].states) == 1
    assert times_by_state([], ()) == ()
    lost = [replace(each, taints=("busy",)) if each.round == 3 and each.side is Side.BASELINE else each for each in samples]
    assert sum(each.rounds for each in times_by_state(lost, range(12))[0].states) == 11
    assert times_by_state([each for each in lost if each.round == 3], [3]) == ()


def test_the_last_session_is_the_confirmation_if_there_was_one() -> None:
    samples = measured(Style.FINE, 4, lambda _n, _l, _s, _q: 0.0)
    assert last_session(samples) == (0, 1, 2, 3)
    confirmed = [replace(each, session=Session.CONFIRM) if each.round > 1 else each for each in samples]
    assert last_session(confirmed) == (2, 3)
