"""States of the machine by docs/METHODOLOGY-TABLES.md: seeded populations with the answer that the text gives.

Two or three groups on each side, 5 % apart at least, a tenth of the times each, and D of 4.5 + 40/n at least, n being the
number of rounds or of changes of state, whichever is more. One slow round is no state. At most 1 % of runs without states
are taken for runs with them.
"""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from expctl.domain.experiment.figures import state_text, states_text
from expctl.domain.experiment.machine_times import TimesOfSize
from expctl.domain.protocol.model import Style
from expctl.domain.verdict.natural_breaks import group_of, natural_breaks, separation
from expctl.domain.verdict.samples import Side
from tests.domain.verdict.test_machine_states import Level, measured, times_of

FAST, SLOW = 2.05, 2.75  # ms, of the issue
STEP = math.log(SLOW / FAST)
Draw = numpy.random.Generator
Slowed = Callable[[int, int, Side, int], float]
"""How many steps a launch or quad lies above the fast state, by round, launch, side and quad."""


def noisy(draw: Draw, slowed: Slowed, sd: float, gain: float = 0.0, kind: str = "normal") -> Level:
    def level(number: int, launch: int, side: Side, quad: int) -> float:
        own = float(draw.standard_t(3)) / 3**0.5 if kind == "t" else float(draw.normal())
        noise = math.expm1(0.6 * own) if kind == "log" else own
        return STEP * slowed(number, launch, side, quad) - gain * (side is Side.CANDIDATE) + sd * noise

    return level


def states(style: Style, rounds: int, level: Level) -> int:
    return len(times_of(measured(style, rounds, level)).states)


def every(period: int, slow: int = 1) -> Slowed:
    """The last `slow` of `period` rounds are slow."""
    return lambda number, _launch, _side, _quad: float(number % period >= period - slow)


def shared(draw: Draw, share: float, by: str) -> Slowed:
    """A share of the rounds, launches or quads is slow, on both sides by the same moments where they have any."""
    known: dict[tuple[int, ...], float] = {}

    def slowed(number: int, launch: int, _side: Side, quad: int) -> float:
        key = {"round": (number,), "launch": (number, launch), "quad": (number, quad)}[by]
        return known.setdefault(key, float(draw.random() < share))

    return slowed


def only(side: Side, slowed: Slowed) -> Slowed:
    return lambda number, launch, which, quad: slowed(number, launch, which, quad) * (which is side)


def tail(draw: Draw, share: float, most: float) -> Slowed:
    return lambda *_where: float(draw.uniform(0.1, most)) if draw.random() < share else 0.0


def drift(course: Callable[[float], float], rounds: int) -> Slowed:
    return lambda number, launch, _side, quad: course((number + launch / 8 + quad / 40) / rounds)


L, F = Style.LAUNCH, Style.FINE
POPULATIONS: dict[str, tuple[Style, int, float, Callable[[Draw], Slowed], int]] = {
    "two modes, half and half": (L, 24, 0.01, lambda _: every(2), 2),
    "two modes, quads by turns": (F, 24, 0.01, lambda draw: shared(draw, 0.5, "quad"), 2),
    "two modes, launches by chance": (L, 30, 0.01, lambda draw: shared(draw, 0.5, "launch"), 2),
    "two modes, 2 % noise": (L, 24, 0.02, lambda _: every(2), 2),
    "two modes, 3 % noise": (F, 24, 0.03, lambda draw: shared(draw, 0.5, "quad"), 2),
    "two modes in noise of t": (F, 24, 0.01, lambda draw: shared(draw, 0.5, "quad"), 2),
    "two modes in 10 % noise": (L, 24, 0.10, lambda _: every(2), 1),
    "two modes in 8 % noise, few rounds": (L, 8, 0.08, lambda _: every(2), 1),
    "a fifth is slow": (L, 30, 0.01, lambda _: every(5), 2),
    "four fifths are slow": (L, 30, 0.01, lambda _: every(5, 4), 2),
    "one in eight is slow": (F, 24, 0.01, lambda _: every(8), 2),
    "one in twenty is slow": (L, 40, 0.01, lambda _: every(20), 1),
    "one in twenty is fast": (L, 40, 0.01, lambda _: every(20, 19), 1),
    "one quad in twenty is slow": (F, 24, 0.01, lambda draw: shared(draw, 0.05, "quad"), 1),
    "one change in the middle": (L, 24, 0.01, lambda _: every(24, 12), 2),
    "always slow": (L, 24, 0.01, lambda _: every(1), 1),
    "never slow": (F, 24, 0.01, lambda _: lambda *_where: 0.0, 1),
    "three modes": (L, 30, 0.01, lambda _: lambda number, *_rest: number % 3, 3),
    "three modes, quads": (F, 20, 0.015, lambda _: lambda number, _l, _s, quad: (number + quad) % 3, 3),
    "three modes, unequal": (L, 40, 0.01, lambda _: lambda number, *_rest: (0, 0, 0, 1, 2)[number % 5], 3),
    "a heavy tail of a fifth": (F, 20, 0.01, lambda draw: tail(draw, 0.2, 3.0), 1),
    "a heavy tail of launches": (L, 30, 0.02, lambda draw: tail(draw, 0.15, 2.0), 1),
    "a long tail of one in thirty": (F, 20, 0.01, lambda draw: tail(draw, 0.03, 9.0), 1),
    "a steady drift": (L, 30, 0.005, lambda _: drift(lambda where: 2 * where, 30), 1),
    "a steady drift of quads": (F, 20, 0.005, lambda _: drift(lambda where: where, 20), 1),
    "a slow wave": (L, 30, 0.005, lambda _: drift(lambda where: math.sin(6.3 * where), 30), 1),
    "a drift that settles": (F, 20, 0.01, lambda _: drift(lambda where: math.exp(-3 * where), 20), 1),
    "three rounds, one slow": (L, 3, 0.001, lambda _: every(3), 1),
    "five rounds, one slow": (F, 5, 0.001, lambda _: every(5), 1),
    "four rounds, two slow": (L, 4, 0.001, lambda _: every(2), 2),
    "three rounds, 4 % noise": (L, 3, 0.04, lambda _: every(2), 1),
    "five rounds, two slow": (L, 5, 0.002, lambda _: every(2), 2),
    "five rounds, 4 % noise": (L, 5, 0.04, lambda _: every(2), 1),
    "eight rounds by turns": (L, 8, 0.005, lambda _: every(2), 2),
    "eight rounds of quads": (F, 8, 0.005, lambda draw: shared(draw, 0.5, "quad"), 2),
    "eight equal rounds": (L, 8, 0.0, lambda _: lambda *_where: 0.0, 1),
    "two equal values": (L, 8, 0.0, lambda _: every(2), 2),
    "the baseline alone": (L, 24, 0.01, lambda _: only(Side.BASELINE, every(2)), 1),
    "the candidate alone": (F, 24, 0.01, lambda draw: only(Side.CANDIDATE, shared(draw, 0.4, "quad")), 1),
    "4 % apart": (L, 24, 0.001, lambda _: lambda number, *_rest: math.log(1.04) / STEP * (number % 2), 1),
    "6 % apart": (L, 24, 0.001, lambda _: lambda number, *_rest: math.log(1.06) / STEP * (number % 2), 2),
}


@pytest.mark.parametrize("gain", [0.0, 0.02, -0.03])
@pytest.mark.parametrize("name", POPULATIONS)
def test_how_many_states(name: str, gain: float) -> None:
    style, rounds, sd, slowed, expected = POPULATIONS[name]
    for seed in range(3):
        draw = numpy.random.default_rng((1611, seed))
        level = noisy(draw, slowed(draw), sd, gain, "t" if name.endswith("of t") else "normal")
        assert states(style, rounds, level) == expected, f"seed {seed}"


@pytest.mark.parametrize("style", Style)
def test_few_of_five_hundred_populations_of_one_mode_have_states(style: Style) -> None:
    """At most 1 %, whatever the number of rounds, the noise and its shape."""
    draw, found = numpy.random.default_rng((1612, list(Style).index(style))), []
    for number in range(250):
        kind, sd = ("normal", "log", "t")[number % 3], float(draw.choice([0.002, 0.01, 0.02, 0.05, 0.1]))
        rounds = int(draw.choice([3, 4, 5, 8, 12, 24]))
        common = sd * draw.standard_t(4, rounds) * float(draw.choice([0.0, 1.0]))
        level = noisy(draw, lambda at, *_rest, common=common: common[at] / STEP, sd, kind=kind)
        if states(style, rounds, level) > 1:
            found.append((kind, sd, rounds))
    assert len(found) <= 2, found


# ------------------------------------------------------------------ the effect in each, and words


def two_effects(fast: float, slow: float, sd: float = 0.002) -> TimesOfSize:
    draw, slowed = numpy.random.default_rng(1613), every(2)

    def level(number: int, launch: int, side: Side, quad: int) -> float:
        effect = slow if number % 2 else fast
        return STEP * slowed(number, launch, side, quad) - effect * (side is Side.CANDIDATE) + draw.normal(0, sd)

    return times_of(measured(Style.LAUNCH, 24, level))


@pytest.mark.parametrize(("fast", "slow"), [(0.03, -0.02), (0.0, 0.1), (-0.1, 0.0), (0.3, 0.3), (-0.3, -0.3), (0.25, 0.0)])
def test_each_state_has_its_effect(fast: float, slow: float) -> None:
    found = two_effects(fast, slow)
    assert [state.rounds for state in found.states] == [12, 12]
    for state, effect, ms in zip(found.states, (fast, slow), (FAST, SLOW), strict=True):
        assert state.effect_percent == pytest.approx(100 * math.expm1(effect), abs=0.4)
        assert state.baseline.ns == pytest.approx(1e6 * ms, rel=0.004)
        assert state.candidate.ns == pytest.approx(1e6 * ms * math.exp(-effect), rel=0.004)
        assert state.baseline.low_ns <= state.baseline.ns <= state.baseline.high_ns
        assert state.low_percent is not None
        assert state.high_percent is not None
        assert state.low_percent < 100 * math.expm1(effect) + 0.3 < state.high_percent + 0.6


def test_sides_that_are_never_in_one_state_together_have_no_effect() -> None:
    draw = numpy.random.default_rng(1614)
    apart = noisy(draw, lambda number, _l, side, _q: float((number % 2 == 0) is (side is Side.BASELINE)), 0.005)
    found = times_of(measured(Style.LAUNCH, 20, apart))
    assert [(state.rounds, state.effect_percent, state.low_percent) for state in found.states] == [(0, None, None)] * 2
    assert found.mixed_rounds == 20


def numbers(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"[-+]?\d+\.\d+", text)]


def test_words_name_size_time_rounds_and_effect_of_each_state() -> None:
    found = two_effects(0.03, -0.02)
    text = states_text(found)
    shape = (
        r"two states of the machine at n: [\d.]+ ms in 12 rounds \(effect .+ % \[.+\]\), [\d.]+ ms in 12 \(effect .+ % \[.+\]\)"
    )
    assert re.fullmatch(shape, text), text
    first, second = text.split("), ")
    assert numbers(first)[0] == pytest.approx(FAST * math.exp(-0.015), rel=0.02)
    assert numbers(second)[0] == pytest.approx(SLOW * math.exp(0.01), rel=0.02)
    for part, state in zip((first, second), found.states, strict=True):
        assert numbers(part)[1:] == pytest.approx([state.effect_percent, state.low_percent, state.high_percent], abs=0.006)


def test_one_state_is_no_news() -> None:
    assert states_text(times_of(measured(Style.LAUNCH, 8, lambda *_where: 0.0))) == ""
    assert [state_text(0, 1), state_text(1, 2), state_text(0, 2)] == [
        "",
        " in the slower of 2 states",
        " in the faster of 2 states",
    ]
    assert [state_text(state, 3).split()[2] for state in range(3)] == ["fastest", "middle", "slowest"]


# ------------------------------------------------------------------ natural breaks


@pytest.mark.parametrize(
    ("values", "groups", "limits"),
    [
        ([1.0, 1.1, 5.0, 5.1], 2, (3.05,)),
        ([5.1, 1.0, 5.0, 1.1], 2, (3.05,)),
        ([-3.0, -3.0, -1.0, 9.0], 2, (3.0,)),
        ([0.0, 10.0, 20.0], 3, (5.0, 15.0)),
        ([0.0, 0.0, 4.0, 4.0, 10.0, 10.0], 3, (2.0, 7.0)),
    ],
)
def test_breaks_by_hand(values: list[float], groups: int, limits: tuple[float, ...]) -> None:
    assert natural_breaks(values, groups) == pytest.approx(limits)
    counted = [group_of(value, limits) for value in sorted(values)]
    assert counted == sorted(counted)
    assert set(counted) == set(range(groups))


def test_the_separation_depends_on_neither_scale_nor_place_nor_order() -> None:
    draw: Any = numpy.random.default_rng(1615)
    lower, upper = list(draw.normal(0, 1, 400)), list(draw.normal(9, 2, 400))
    known = separation(lower, upper)
    assert known == pytest.approx(9 / math.sqrt(2.5), rel=0.15)
    assert separation(sorted(lower), upper[::-1]) == pytest.approx(known)
    assert separation([3 * each for each in lower], [3 * each for each in upper]) == pytest.approx(known)
    assert separation([each - 7 for each in lower], [each - 7 for each in upper]) == pytest.approx(known)
