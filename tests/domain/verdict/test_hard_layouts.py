"""A gain over the layouts: one that a lucky placement gave, labels that mean nothing, limits of each mode."""

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.protocol.model import Size, Style
from expctl.domain.verdict.lasting_gain import depends_on_placement, doubts
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.sequential_test import Decision
from tests.domain.verdict.made_rounds import decided
from tests.domain.verdict.made_samples import C, Times, concluded, plan, sizes

ONE = plan(sizes(n=1.0), style=Style.FINE)
CONFIRM_FROM = 200


def rounds(
    gains: Sequence[float], noise: float = 0.0005, seed: int = 1, names: Sequence[str] = ("n",), labels: Sequence[int] = ()
) -> list[RoundEffect]:
    """Rounds that take the layouts in turn; layout i gains `gains[i]` (log units) at every size."""
    draw, made = Random(seed), []
    for number in range(2 * CONFIRM_FROM):
        layout = number % len(gains)
        effects = {name: gains[layout] + draw.gauss(0, noise) for name in names}
        made.append(
            RoundEffect(
                round=number, effect=effects, mean_effect=effects, duration_s=1.0, layout=labels[layout] if labels else layout,
                session=Session.SEARCH if number < CONFIRM_FROM else Session.CONFIRM,
            )
        )  # fmt: skip
    return made


def verdict(made: Sequence[RoundEffect], wanted: Plan = ONE) -> Verdict:
    return decided(made, wanted).verdict


@pytest.mark.parametrize("layouts", [2, 3, 8, 32])
def test_a_gain_in_every_layout_is_kept(layouts: int) -> None:
    assert verdict(rounds([0.02] * layouts)) is Verdict.KEEP


@pytest.mark.parametrize("lucky", range(8))
def test_a_gain_that_one_layout_of_eight_has_is_never_kept(lucky: int) -> None:
    found = decided(rounds([0.08 if i == lucky else 0.0 for i in range(8)]), ONE)
    assert found.verdict is not Verdict.KEEP, found.reasons


def test_a_gain_that_shows_but_hangs_on_the_layout_is_said_to() -> None:
    """Half of the layouts gain 4 %, the others lose .4 %: the rounds are sure of +1.8 %, the layouts are not."""
    found = decided(rounds([0.04, -0.004, 0.04, -0.004]), ONE)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "layout" in found.reasons[0] or "placement" in found.reasons[0], found.reasons


@pytest.mark.parametrize("seed", range(6))
def test_the_labels_of_layouts_mean_nothing(seed: int) -> None:
    draw = Random(seed)
    gains = [0.01 + draw.gauss(0, 0.004) for _ in range(6)]
    labels = draw.sample(range(32), 6)
    plain, renamed = (decided(rounds(gains, seed=seed, labels=each), ONE) for each in ((), labels))
    assert plain.verdict is renamed.verdict
    assert plain.intervals == renamed.intervals


@pytest.mark.parametrize("seed", range(6))
def test_one_layout_is_no_layout(seed: int) -> None:
    made = rounds([0.012], noise=0.006, seed=seed)
    assert decided(made, ONE) == decided([replace(each, layout=5) for each in made], ONE)


def test_no_mode_keeps_by_luck_what_it_would_not_keep_in_all_layouts() -> None:
    """By limits: costly code must gain more than .2 % in the layouts, a simplification lose less than .5 %."""
    cases: Mapping[Mode, tuple[Sequence[float], Sequence[float]]] = {
        Mode.GAIN: ([0.01] * 6, [0.08, 0, 0, 0, 0, 0]),
        Mode.GAIN_COSTLY: ([0.01] * 6, [0.03, 0.001, 0.001, 0.001, 0.001, 0.001]),
        Mode.SIMPLIFY: ([-0.001] * 6, [0.03, -0.0049, -0.0049, -0.0049, -0.0049, -0.0049]),
    }
    for mode, (everywhere, by_luck) in cases.items():
        wanted = replace(ONE, mode=mode, guard=0.1, regression=0.1)
        assert verdict(rounds(everywhere), wanted) is Verdict.KEEP, mode
        assert verdict(rounds(by_luck), wanted) is not Verdict.KEEP, mode


def test_it_is_the_rescuers_gain_that_must_hold_in_the_layouts() -> None:
    wanted = plan((Size(name="n", weight=0.95), Size(name="few", weight=0.05, rescuer=True)), style=Style.FINE)

    def made(few: Sequence[float]) -> list[RoundEffect]:
        return [
            replace(
                each, effect={"n": each.effect["n"] - each.effect["few"] / 19, "few": each.effect["few"] + few[each.layout]}
            )
            for each in rounds([0.0] * 4, noise=0.0003, names=("n", "few"))
        ]

    assert verdict(made([0.03] * 4), wanted) is Verdict.KEEP
    assert verdict(made([0.2, 0.0, 0.0, 0.0]), wanted) is not Verdict.KEEP


def test_a_rescuer_of_a_simplification_must_gain_in_the_layouts_and_not_just_lose_little() -> None:
    """+1 % on average, over the layouts surely above -.2 % only: more than -.5 %, the objective's floor, and less than zero."""
    wanted = replace(plan((Size(name="n", weight=1.0, rescuer=True),), Mode.SIMPLIFY, Style.FINE), guard=0.5)
    made = rounds([0.02, 0.0] * 4, noise=0.0001)
    said = {name: doubts(made[:40], made[200:240], wanted, name, 0.01) for name in ("n", "")}
    assert [any("placements" in each for each in said[name]) for name in ("n", "")] == [True, False], said


def test_the_gain_over_the_layouts_must_exceed_the_floor_and_not_reach_it() -> None:
    """Without any noise: every layout at the floor, and every layout a little above it."""
    labels = [0, 1, 2, 3] * 3
    for floor in (-0.005, 0.0, 0.002):
        assert depends_on_placement([floor] * 12, labels, floor)
        assert not depends_on_placement([floor + 0.001] * 12, labels, floor)
        assert not depends_on_placement([floor] * 12, [0] * 12, floor), "one layout shows nothing of the kind"


def test_a_layout_with_many_rounds_counts_as_one() -> None:
    """+2 % in ninety rounds of one layout, nothing in one round of each of five others."""
    effects, labels = [0.02] * 90 + [0.0] * 5, [0] * 90 + [1, 2, 3, 4, 5]
    assert depends_on_placement(effects, labels, 0.0)


def test_two_layouts_that_differ_say_little() -> None:
    """t of one degree of freedom at 99.5 %: 63.66."""
    assert depends_on_placement([0.01, 0.013] * 5, [0, 1] * 5, 0.0)
    assert not depends_on_placement([0.01, 0.0101] * 5, [0, 1] * 5, 0.0)


def test_samples_of_a_lucky_layout_are_not_kept_and_those_of_an_honest_gain_are() -> None:
    """From times to verdict: layout 2 of 4 is 10 % faster, or each is 2 % faster."""
    draw = Random(5)

    def times(lucky: bool) -> Times:
        def made(side: object, _size: str, number: int, _place: int) -> list[int]:
            gain = (0.1 * (number % 4 == 2) if lucky else 0.02) if side is C else 0.0
            return [round(1e6 * (1 - gain)) + draw.randrange(2000) for _ in range(10)]

        return made

    found: list[Decision] = [concluded(plan(sizes(n=1.0)), times(lucky), layouts=4)[0] for lucky in (True, False)]
    assert [each.verdict is Verdict.KEEP for each in found] == [False, True], found
