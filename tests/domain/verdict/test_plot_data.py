"""A picture shows the very boundaries by which `decide` decides."""

from random import Random

import pytest

from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.experiment.record import Estimate
from expctl.domain.protocol.boundaries import LOOKS
from expctl.domain.verdict.evidence import evidence_of
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.plot_data import Caption, Picture, picture_of
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.sequential_test import Decision, decide
from expctl.domain.verdict.statistics import percent

PLAN = Plan(weights={"a": 0.7, "b": 0.3}, mode=Mode.GAIN, guard=0.005, regression=0.003, worthwhile=0.005, simplify=0.005)
CAPTION = Caption(id="P1", title="t", target="cpu", outcome="KEEP", reason="r")


def history(seed: int, plan: Plan = PLAN) -> tuple[list[RoundEffect], Decision]:
    """Random rounds, as many as `decide` asks for."""
    draw = Random(seed)
    mean, sd = draw.uniform(-0.01, 0.02), draw.uniform(0.001, 0.01)
    rounds: list[RoundEffect] = []
    while not isinstance(answer := decide(rounds, plan), Decision):
        effect = {size: draw.gauss(mean, sd) for size in plan.weights}
        number, session = len(rounds), answer.session
        rounds.append(RoundEffect(round=number, effect=effect, mean_effect=effect, session=session, duration_s=1.0))
    return rounds, answer


def drawn(rounds: list[RoundEffect], plan: Plan = PLAN, sequential: bool = True) -> Picture:
    return picture_of(rounds, plan, CAPTION, sequential=sequential, estimate=None)


@pytest.mark.parametrize("mode", Mode)
def test_the_mean_crosses_a_boundary_of_the_picture_where_the_evidence_does(mode: Mode) -> None:
    plan = Plan(weights=PLAN.weights, mode=mode, guard=0.005, regression=0.003, worthwhile=0.005, simplify=0.005)
    kept = 0
    for seed in range(60):
        rounds, answer = history(seed, plan)
        picture = drawn(rounds, plan)
        search = [each for each in rounds if each.session is Session.SEARCH]
        assert [look.rounds for look in picture.looks] == [look for look in LOOKS if look <= len(search)]
        for look in picture.looks:
            seen = evidence_of(search[: look.rounds], plan, Session.SEARCH)
            mean = picture.search_means[look.rounds - 1]
            assert mean == pytest.approx(percent(seen.objective.mean))
            assert (mean > look.keep, mean < look.futile) == (
                seen.objective.low > plan.floor,
                seen.objective.high < plan.ceiling,
            )
        if picture.confirm_above is not None:
            confirm = [each for each in rounds if each.session is Session.CONFIRM]
            seen = evidence_of(confirm, plan, Session.CONFIRM)
            assert (picture.confirm_means[-1] > picture.confirm_above) == (seen.objective.low > plan.floor)
        assert (picture.confirm_above is None) == (len(picture.confirm) < 6)
        kept += answer.verdict is Verdict.KEEP
    assert 0 < kept < 60


def test_a_round_is_its_weighted_objective_and_the_mean_starts_anew_with_the_confirmation() -> None:
    rounds = [
        RoundEffect(round=0, effect={"a": 0.01, "b": 0.0}, mean_effect={}),
        RoundEffect(round=1, effect={"a": 0.03, "b": 0.0}, mean_effect={}),
        RoundEffect(round=2, effect={"a": 0.0, "b": 0.1}, mean_effect={}, session=Session.CONFIRM),
    ]
    picture = drawn(rounds)
    assert picture.search == pytest.approx((percent(0.007), percent(0.021)))
    assert picture.search_means == pytest.approx((percent(0.007), percent(0.014)))
    assert picture.confirm == picture.confirm_means == pytest.approx((percent(0.03),))
    assert (picture.looks, picture.confirm_above) == ((), None)


def test_rule_v0_took_no_looks() -> None:
    rounds, _ = history(1)
    picture = drawn(rounds, sequential=False)
    assert (picture.looks, picture.confirm_above) == ((), None)


def test_the_axis_holds_everything_and_zero() -> None:
    rounds, _ = history(3)
    estimate = Estimate(size="objective", effect_percent=1.0, low_percent=-40.0, high_percent=50.0, sd_percent=1.0, rounds=9)
    picture = picture_of(rounds, PLAN, CAPTION, sequential=True, estimate=estimate)
    assert (min(picture.levels), max(picture.levels)) == (-40.0, 50.0)
    assert {0.0, *picture.search, *picture.confirm, picture.looks[0].keep, picture.looks[0].futile} <= set(picture.levels)
