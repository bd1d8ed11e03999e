"""What an undecided experiment is told: a price that can be paid, with a chance that is kept."""

import re
from random import Random

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.noise import Calibrated, Noise
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.verdict.cost_to_decide import best_offer
from expctl.domain.verdict.evidence import OBJECTIVE, evidence_of
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.sequential_test import Decision, decide
from tests.domain.verdict import made_rounds
from tests.domain.verdict.made_rounds import decided, fresh, loss, rounds

PLAN = replace(made_rounds.PLAN, guard=loss(5), regression=loss(5))
PRICE = re.compile(r"up to (\d+) more rounds(?: \(about (\d+) (minutes?)\))? decide with a chance of (\d+) %")
GAIN = rounds(2, 2, 0.2)


def price(decision: Decision) -> tuple[int, int, int]:
    """Rounds, minutes and the chance in percent."""
    assert decision.verdict is Verdict.INCONCLUSIVE
    found = PRICE.search(" ".join(decision.reasons))
    assert found, decision.reasons
    return int(found[1]), int(found[2] or 0), int(found[4])


def test_a_search_that_ends_undecided_is_told_rounds_minutes_and_a_chance() -> None:
    """At 2.5 s a round. From 46 rounds to 60 or 200 of the search, and a confirmation of up to 70 or 200."""
    more, minutes, chance = price(decided(rounds(0.6, 0.6, 1.6), PLAN))
    assert 14 + 70 <= more <= 154 + 200
    assert minutes == pytest.approx(more * 2.5 / 60, abs=1)
    assert minutes * 60 >= more * 2.5 - 30
    assert 50 <= chance <= 99
    cheap = price(decided(rounds(0.1, 0.1, 1.25), PLAN))[0]  # a search that soon rules the gain out, or else is confirmed
    assert 14 + 70 <= cheap < more


def test_without_durations_there_are_no_minutes() -> None:
    decision = decided([replace(each, duration_s=0.0) for each in rounds(0.6, 0.6, 1.6)], PLAN)
    more, minutes, _ = price(decision)
    assert (more > 0, minutes) == (True, 0)
    assert "minute" not in " ".join(decision.reasons)


def test_a_confirmation_that_ends_undecided_is_told_so_too() -> None:
    decision = decided([*GAIN, *fresh(0.35, 0.35, 1.0)], PLAN)
    assert decision.reasons[0].startswith("not confirmed: the search saw objective +2.06 %")
    more, minutes, _ = price(decision)
    assert 20 <= more <= 130  # from 70 rounds to at most 200
    assert minutes == pytest.approx(more * 2.5 / 60, abs=1)


def test_one_minute_is_no_minutes() -> None:
    quick = [replace(each, duration_s=0.1) for each in rounds(0.6, 0.6, 1.6)]
    assert PRICE.search(decided(quick, PLAN).reasons[0])[3] == "minute"  # type: ignore[index]


def test_what_no_number_of_rounds_decides_has_no_price() -> None:
    reasons = decided(rounds(0.25, 0.25, 20), PLAN).reasons
    assert "not even 200 rounds, the most there are, would surely decide (chance " in reasons[0]
    spent = decided(rounds(0.6, 0.6, 7), replace(PLAN, rounds=200, confirm=200))
    assert not PRICE.search(spent.reasons[0])


def test_a_chance_below_80_percent_is_a_warning_and_no_price() -> None:
    reason = decided(rounds(0.6, 0.6, 1.8), PLAN).reasons[0]
    assert re.search(r"not even 200 rounds, the most there are, would surely decide \(chance [5-7]\d %\)$", reason), reason


def test_an_undecided_rescuer_counts_against_the_chance() -> None:
    """The objective is as good as ruled out; the small size is not."""
    search = rounds(0, 0, 0.01, apart=1.5)[:46]
    alone, with_rescuer = (
        best_offer(evidence_of(search, plan, Session.SEARCH), Session.SEARCH).chance
        for plan in (PLAN, replace(PLAN, rescuers=("small",)))
    )
    assert alone > 0.95
    assert with_rescuer < alone - 0.05


def test_less_noise_costs_less() -> None:
    quiet, loud = (decided(rounds(0.6, 0.6, noise), PLAN) for noise in (1.45, 1.6))
    assert (price(quiet)[0], -price(quiet)[2]) < (price(loud)[0], -price(loud)[2])


def test_the_noise_is_the_larger_of_the_measured_and_the_calibrated() -> None:
    def known(sd_percent: float) -> Plan:
        noise = Noise(sd_percent=sd_percent)
        return replace(PLAN, calibrated=Calibrated(date="2026-03-01T00:00:00Z", rounds=24, noise={OBJECTIVE: noise}))

    search = rounds(0.6, 0.6, 1.5)
    asked = price(decided(search, PLAN))
    assert price(decided(search, known(1.0))) == asked
    dearer = price(decided(search, known(1.6)))
    assert (dearer[0], -dearer[2]) > (asked[0], -asked[2])


def extended(plan: Plan, effects: dict[str, float], sd: float, seed: int) -> tuple[int, bool] | None:
    """The quoted chance, and whether the rounds quoted decided; None where the run needed no more or got no price."""
    draw, number = Random(seed), 0
    search: list[RoundEffect] = []
    confirm: list[RoundEffect] = []

    def measure(session: Session, n: int) -> None:
        nonlocal number
        for _ in range(n):
            effect = {size: draw.gauss(mean, sd) for size, mean in effects.items()}
            made = RoundEffect(round=number, effect=effect, mean_effect=effect, session=session, duration_s=2.5)
            (confirm if session is Session.CONFIRM else search).append(made)
            number += 1

    while not isinstance(answer := decide([*search, *confirm], plan), Decision):
        measure(answer.session, answer.rounds_left)
    if answer.verdict is not Verdict.INCONCLUSIVE or not PRICE.search(" ".join(answer.reasons)):
        return None
    left, _, chance = price(answer)
    longer = replace(plan, rounds=200, confirm=200)
    while not isinstance(further := decide([*search, *confirm], longer), Decision) and further.rounds_left <= left:
        left -= further.rounds_left
        measure(further.session, further.rounds_left)
    return chance, isinstance(further, Decision) and further.verdict is not Verdict.INCONCLUSIVE


def kept_promises(plan: Plan, effects: dict[str, float], sd: float, trials: int) -> tuple[int, float, float]:
    """How often a chance of 80 % or more was quoted, its mean, and the share of those that were decided."""
    found = [each for seed in range(trials) if (each := extended(plan, effects, sd, seed)) and each[0] >= 80]
    return len(found), sum(chance for chance, _ in found) / len(found) / 100, sum(ok for _, ok in found) / len(found)


@pytest.mark.parametrize(("effect", "sd"), [(0.0025, 0.012), pytest.param(0.004, 0.016, marks=pytest.mark.long)])
def test_the_quoted_rounds_decide_as_often_as_they_say(effect: float, sd: float, long: bool) -> None:
    quoted, claimed, decided_share = kept_promises(PLAN, {"big": effect, "small": effect}, sd, 600 if long else 60)
    assert quoted >= 15
    assert claimed >= 0.8
    assert decided_share >= 0.8


def test_the_quoted_rounds_of_an_undecided_rescuer_decide_as_often_as_they_say(long: bool) -> None:
    """The objective is surely not worth it; the small size, noisy and of little weight, may be. Few of them get a price."""
    plan = replace(PLAN, weights={"big": 0.9, "small": 0.1}, rescuers=("small",))
    quoted, _, decided_share = kept_promises(plan, {"big": -0.001, "small": 0.0}, 0.012, 2000 if long else 250)
    assert quoted >= 15
    assert decided_share >= 0.8
