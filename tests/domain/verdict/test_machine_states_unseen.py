"""More populations for the states of the machine, kept from whoever mends them."""

import numpy
import pytest
from msgspec.structs import replace

from expctl.domain.experiment.figures import states_text
from expctl.domain.protocol.model import Style
from expctl.domain.verdict.machine_states import times_by_state
from expctl.domain.verdict.samples import Side
from tests.domain.verdict.test_machine_states import measured, times_of
from tests.domain.verdict.test_machine_states_cases import Slowed, every, noisy, shared, states

POPULATIONS: dict[str, tuple[Style, int, float, Slowed | None, int]] = {
    "a third is slow": (Style.LAUNCH, 27, 0.015, every(3), 2),
    "blocks of four": (Style.FINE, 24, 0.02, every(8, 4), 2),
    "one in thirty is fast": (Style.FINE, 30, 0.01, every(30, 29), 1),
    "the middle of three is rare": (Style.LAUNCH, 46, 0.01, lambda n, *_: (0, 2)[n % 2] if n != 7 else 1, 2),
    "three modes of 46": (Style.LAUNCH, 46, 0.012, lambda n, *_: (0, 2, 1)[n % 3], 3),
    "launches of both sides by chance": (Style.LAUNCH, 46, 0.01, None, 2),
    "it drifts away": (Style.LAUNCH, 10, 0.01, lambda n, *_: 0.3 * n, 1),
    "the baseline is always slow": (Style.LAUNCH, 24, 0.01, lambda n, _l, side, _q: float(side is Side.BASELINE or n % 2), 1),
}


@pytest.mark.parametrize("name", POPULATIONS)
def test_how_many_states(name: str) -> None:
    style, rounds, sd, slowed, expected = POPULATIONS[name]
    for seed in range(3):
        draw = numpy.random.default_rng((77, seed))
        level = noisy(draw, slowed or shared(draw, 0.5, "launch"), sd, 0.01)
        assert states(style, rounds, level) == expected, f"seed {seed}"


def test_sizes_have_states_of_their_own() -> None:
    draw = numpy.random.default_rng(78)
    one = measured(Style.LAUNCH, 20, noisy(draw, every(1), 0.01))
    other = measured(Style.LAUNCH, 20, noisy(draw, every(2), 0.01))
    both = one + [replace(each, size="m") for each in other]
    found = {each.size: each for each in times_by_state(both, range(20))}
    assert {size: len(each.states) for size, each in found.items()} == {"n": 1, "m": 2}
    assert " at m: " in states_text(found["m"])


def test_the_state_with_most_rounds_is_the_main_one() -> None:
    draw = numpy.random.default_rng(79)
    found = times_of(measured(Style.LAUNCH, 24, noisy(draw, every(4, 3), 0.01)))
    assert found.main is found.states[1]
    assert [each.rounds for each in found.states] == [6, 18]
