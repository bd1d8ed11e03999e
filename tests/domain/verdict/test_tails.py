"""Mean and quantiles of single iterations, and the word about a tail that is clearly heavier."""

import numpy as np
import pytest

from expctl.adapters.codec.record_codec import record_bytes, record_of
from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.experiment.record import Estimate, Origin, Record, Times
from expctl.domain.protocol.model import Benchmark, KeepRule, Size, Style
from expctl.domain.verdict.judge import estimates_of, judge, tail_flags
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session, Side
from expctl.domain.verdict.sequential_test import Decision
from expctl.domain.verdict.tails import heavier_tails, times_of

B, C = Side.BASELINE, Side.CANDIDATE
SIZES = (Size(name="n", weight=1.0),)
PLAN = Plan.of(Benchmark(argv=("-",), timeout_s=1, sizes=SIZES, style=Style.LAUNCH), KeepRule(), Mode.GAIN)


def sample(number: int, side: Side, ns: list[int], launch: int = 0, taints: tuple[str, ...] = ()) -> Sample:
    return Sample(
        round=number, launch=launch, side=side, size="n", style=Style.LAUNCH, visit=len(ns), ns=tuple(ns), order="ABBA",
        taints=taints, session=Session.SEARCH,
    )  # fmt: skip


def rounds_with(
    shares: tuple[float, float], *, rounds: int = 40, slower: float = 1.65, sd: float = 0.01, seed: int = 1, gain: float = 0.0
) -> list[Sample]:
    """Rounds of 20 iterations a side, of which a share is slower."""
    draw, samples = np.random.default_rng(seed), []
    for number in range(rounds):
        for launch, side in enumerate((B, C, C, B)):
            level = 1e6 * (1 - gain if side is C else 1) * np.exp(draw.normal(0, sd, 10))
            slow = draw.random(10) < shares[side is C]
            samples.append(sample(number, side, [round(ns) for ns in level * np.where(slow, slower, 1)], launch))
    return samples


def test_mean_and_quantiles_are_those_of_the_iterations_over_their_median() -> None:
    ns = list(range(1, 101))
    found = times_of([sample(0, B, ns[::2]), sample(1, B, ns[1::2]), sample(0, C, [7])], side=B, size="n")
    assert found == Times(mean_ns=50.5, p90=round(90 / 50.5, 4), p99=round(99 / 50.5, 4))
    assert times_of([sample(0, B, [5])], side=B, size="n") == Times(mean_ns=5, p90=1, p99=1)


def test_disturbed_launches_are_in_no_quantile() -> None:
    samples = [sample(0, B, [10] * 10), sample(0, B, [900] * 10, 1, ("ncu matches ncu",))]
    assert times_of(samples, side=B, size="n") == Times(mean_ns=10, p90=1, p99=1)


@pytest.mark.parametrize(("shares", "side"), [((0, 0.05), "candidate"), ((0.05, 0), "baseline"), ((0.02, 0.1), "candidate")])
def test_a_heavier_tail_is_named_with_its_side_and_shares(shares: tuple[float, float], side: str) -> None:
    (told,) = heavier_tails(rounds_with(shares), ["n"])
    assert told.startswith(f"n: the {side}'s tail is heavier: ")
    assert "% of its iterations take over 1.3 times their median" in told


def test_equal_tails_and_none_are_not_told() -> None:
    told = [seed for seed in range(100) if heavier_tails(rounds_with((0.05, 0.05), seed=seed), ["n"])]
    assert len(told) <= 2, "two sides, each at .1 %"
    assert heavier_tails(rounds_with((0, 0)), ["n"]) == ()


def test_a_slower_side_is_no_tail() -> None:
    assert heavier_tails(rounds_with((0, 0), gain=-0.8), ["n"]) == ()


def test_two_modes_that_last_for_rounds_are_no_tail() -> None:
    """This kind of machine: a size takes 2.05 or 2.75 ms, whoever runs."""
    samples = [
        sample(number, side, [ns * (1 if number % 3 else 2)] * 10, launch)
        for number in range(40)
        for launch, (side, ns) in enumerate(((B, 1000), (C, 990), (C, 990), (B, 1000)))
    ]
    assert heavier_tails(samples, ["n"]) == ()


def test_one_bad_spell_is_no_tail() -> None:
    """Eight slow iterations in each of three rounds: Fisher's test would call that impossible."""
    plain = rounds_with((0, 0))
    spell = [
        sample(each.round, C, [*each.ns[:6], *(2 * ns for ns in each.ns[6:])], each.launch)
        if each.side is C and each.round in (4, 5, 6)
        else each
        for each in plain
    ]
    assert heavier_tails(spell, ["n"]) == ()


def test_a_difference_of_less_than_half_a_percent_is_not_worth_a_word() -> None:
    samples = [
        sample(number, side, [2000 if side is C and i == 0 else 1000 for i in range(400)])
        for number in range(50)
        for side in (B, C)
    ]
    assert heavier_tails(samples, ["n"]) == ()


def test_the_estimate_has_them_and_the_objective_has_none() -> None:
    samples = rounds_with((0, 0.1), gain=-0.05)
    answer = judge(samples, PLAN, Kind.PERF)
    assert isinstance(answer, Decision)
    objective, estimate = estimates_of(answer, samples, SIZES)
    assert (objective.baseline_times, objective.candidate_times) == (None, None)
    used = [each for each in samples if each.round in answer.rounds]
    assert estimate.baseline_times == times_of(used, side=B, size="n")
    assert estimate.candidate_times == times_of(used, side=C, size="n")
    assert tail_flags(answer, samples) == heavier_tails(used, ["n"])


def test_a_record_keeps_them_and_an_older_one_stays_as_it_is() -> None:
    older = Estimate(size="n", effect_percent=1, low_percent=0, high_percent=2, sd_percent=1, rounds=3)
    times = Times(mean_ns=1.5, p90=1.01, p99=1.2)
    newer = Estimate(
        size="n", effect_percent=1, low_percent=0, high_percent=2, sd_percent=1, rounds=3, baseline_times=times,
        candidate_times=times,
    )  # fmt: skip
    for estimate in (older, newer):
        record = Record(
            id="P1", title="t", kind=Kind.PERF, origin=Origin.MEASURED, target="cpu", verdict=Verdict.KEEP, reasons=("r",),
            estimates=(estimate,),
        )  # fmt: skip
        assert record_of(record_bytes(record), where="") == record
        assert (b"times" in record_bytes(record)) is (estimate is newer)
