"""Rounds of one pair of workers count once."""

from random import Random

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.protocol.model import Benchmark, KeepRule, Size, Style
from expctl.domain.verdict.evidence import OBJECTIVE
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.paired_rounds import by_pairs
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Sample, Session, Side
from expctl.domain.verdict.sequential_test import Decision, MeasureMore

BENCHMARK = Benchmark(argv=("-",), timeout_s=1, sizes=(Size(name="n", weight=1.0),), style=Style.FINE, respawn=3)
PLAN = Plan.of(BENCHMARK, KeepRule(), Mode.GAIN)


def effects(*values: float, session: Session = Session.SEARCH, first: int = 0) -> list[RoundEffect]:
    """Three rounds a pair."""
    return [
        RoundEffect(
            round=first + i, effect={"n": x}, mean_effect={"n": 2 * x}, session=session, duration_s=2.0, pair=first + i - i % 3
        )
        for i, x in enumerate(values)
    ]


def test_an_observation_is_the_mean_of_its_pair() -> None:
    found = by_pairs(effects(1, 2, 6, 5, 5, 5), 3)
    assert [each.effect["n"] for each in found.effects] == [3, 5]
    assert [each.mean_effect["n"] for each in found.effects] == [6, 10]
    assert [each.duration_s for each in found.effects] == [6, 6]
    assert found.rounds == {0: (0, 1, 2), 3: (3, 4, 5)}


@pytest.mark.parametrize(("rounds", "observations"), [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 1), (6, 2)])
def test_the_last_pair_counts_when_it_is_done(rounds: int, observations: int) -> None:
    assert len(by_pairs(effects(*[1.0] * rounds), 3).effects) == observations


def test_a_pair_that_was_cut_short_by_a_kill_counts_once_another_has_begun() -> None:
    cut = [*effects(1, 2), *effects(5, 5, 5, first=2)]
    assert [each.effect["n"] for each in by_pairs(cut, 3).effects] == [1.5, 5]


def test_each_session_has_a_last_pair_of_its_own() -> None:
    both = [*effects(1, 1, 1, 2), *effects(7, 7, 7, first=4, session=Session.CONFIRM)]
    assert [each.effect["n"] for each in by_pairs(both, 3).effects] == [1, 7]


def test_without_respawn_nothing_changes() -> None:
    rounds = [replace(each, pair=each.round) for each in effects(1, 2, 3, 4)]
    assert by_pairs(rounds, 1).effects == tuple(rounds)


def samples(offsets: list[float], seed: int = 1) -> list[Sample]:
    """A/A rounds whose pairs differ by an offset that lasts, in the search."""
    draw, made = Random(seed), []
    for number in range(3 * len(offsets)):
        for launch, side in enumerate(Side):
            gain = offsets[number // 3] if side is Side.CANDIDATE else 0.0
            ns = tuple(round(1e8 * (1 - gain + draw.gauss(0, 1e-5))) for _ in range(4))
            made.append(
                Sample(
                    round=number, launch=launch, side=side, size="n", style=Style.FINE, visit=2, ns=ns, order="A",
                    session=Session.SEARCH, pair=number - number % 3,
                )
            )  # fmt: skip
    return made


def test_a_lucky_pair_is_not_five_lucky_rounds() -> None:
    """Six rounds of 1 % in two pairs: far beyond their own noise, and nothing that decides."""
    lucky = samples([0.01, 0.01])
    assert isinstance(judge(lucky, PLAN, Kind.PERF), MeasureMore)
    blind = judge(lucky, replace(PLAN, respawn=1), Kind.PERF)
    assert isinstance(blind, MeasureMore)
    assert blind.session is Session.CONFIRM


def test_the_intervals_rest_on_every_round_of_the_pairs() -> None:
    decision = judge(samples([-0.02, -0.021, -0.019]), PLAN, Kind.PERF)
    assert isinstance(decision, Decision)
    assert decision.verdict is Verdict.REJECT
    assert decision.rounds == tuple(range(9))
    assert decision.intervals[OBJECTIVE].rounds == 3
