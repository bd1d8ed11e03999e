"""Tails and the mean time in cases that are made to be mistaken: equal medians, single iterations, limits met exactly."""

import math
from collections.abc import Sequence
from random import Random

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.experiment.record import Estimate, Origin, Record
from expctl.domain.protocol.model import KeepRule, Size, Style
from expctl.domain.verdict.judge import estimates_of, tail_flags
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Sample, Session, Side
from expctl.domain.verdict.tails import heavier_tails, times_of
from expctl.views.report import record_lines
from tests.domain.verdict.made_rounds import decided
from tests.domain.verdict.made_samples import B, C, Times, concluded, launch, one_round, plan, sizes

ONE = sizes(n=1.0)


def tailed(seed: int, *, gain: float = 0.0, baseline: float = 0.0, candidate: float = 0.0, slower: float = 1.65) -> Times:
    """A machine of .3 % noise, on which a share of the iterations of each side is slower."""
    draw = Random(seed)

    def times(side: Side, _size: str, _number: int, _place: int) -> list[int]:
        share, level = (candidate, 1e6 * (1 - gain)) if side is C else (baseline, 1e6)
        return [round(level * math.exp(draw.gauss(0, 0.003)) * (slower if draw.random() < share else 1.0)) for _ in range(10)]

    return times


@pytest.mark.parametrize("seed", range(4))
def test_a_median_gain_that_a_slow_tail_eats_is_never_kept(seed: int) -> None:
    """.5 % faster but for every twentieth iteration, which takes 65 % longer: the mean is 2.7 % slower."""
    decision, samples = concluded(plan(ONE), tailed(seed, gain=0.005, candidate=0.05))
    assert decision.verdict is not Verdict.KEEP
    if decision.verdict is Verdict.REJECT:
        assert decision.reasons[0].startswith("the mean time of all iterations loses: -")
    (flag,) = tail_flags(decision, samples)
    assert flag.startswith("n: the candidate's tail is heavier")


def test_the_same_tail_on_both_sides_hides_no_gain() -> None:
    decision, samples = concluded(plan(ONE), tailed(3, gain=0.03, baseline=0.05, candidate=0.05))
    assert decision.verdict is Verdict.KEEP, decision.reasons
    assert tail_flags(decision, samples) == ()


def test_a_better_mean_alone_is_no_gain_and_the_baselines_tail_is_named() -> None:
    """The medians are equal; the candidate has lost a tail, which makes its mean 3 % faster."""
    decision, _ = concluded(plan(ONE), tailed(5, baseline=0.05))
    assert decision.verdict is not Verdict.KEEP
    samples = [each for n in range(40) for each in one_round(n, ["n"], tailed(n, baseline=0.05))]
    (flag,) = heavier_tails(samples, ["n"])
    assert flag.startswith("n: the baseline's tail is heavier")


@pytest.mark.parametrize("weight", [0.0, 0.2])
def test_only_the_size_with_the_tail_is_named_whatever_its_weight(weight: float) -> None:
    draw = Random(7)

    def times(side: Side, size: str, _number: int, _place: int) -> list[int]:
        slow = [draw.random() < 0.1 for _ in range(10)]
        return [2_000_000 if hit and side is C and size == "tail" else 1_000_000 - 20_000 * (side is C) for hit in slow]

    samples = [each for n in range(40) for each in one_round(n, ["plain", "tail", "other"], times)]
    decision, used = concluded(plan(sizes(plain=0.8 - weight, tail=weight, other=0.2)), times)
    assert {flag.split(":")[0] for flag in tail_flags(decision, used)} <= {"tail"}
    assert [flag.split(":")[0] for flag in heavier_tails(samples, ["plain", "tail", "other"])] == ["tail"]


@pytest.mark.parametrize(("slower", "told"), [(1.29, False), (1.31, True)])
def test_a_tail_begins_at_1_3_times_the_median(slower: float, told: bool) -> None:
    draw = Random(2)

    def times(side: Side, _size: str, _number: int, _place: int) -> list[int]:
        return [round(1e6 * slower) if side is C and draw.random() < 0.1 else 1_000_000 for _ in range(10)]

    samples = [each for n in range(40) for each in one_round(n, ["n"], times)]
    assert bool(heavier_tails(samples, ["n"])) == told


def test_a_wide_middle_is_no_tail() -> None:
    """The candidate's iterations spread over 15 % to both sides, the baseline's don't; none is 1.3 times the median."""
    draw = Random(6)

    def times(side: Side, _size: str, _number: int, _place: int) -> list[int]:
        return [draw.randint(850_000, 1_150_000) if side is C else 1_000_000 for _ in range(10)]

    assert heavier_tails([each for n in range(40) for each in one_round(n, ["n"], times)], ["n"]) == ()


def test_turns_in_one_process_have_tails_too() -> None:
    draw = Random(4)

    def fine(number: int, side: Side) -> Sample:
        ns = tuple(1_700_000 if side is C and draw.random() < 0.06 else 1_000_000 for _ in range(32))
        return Sample(round=number, launch=int(side is C), side=side, size="n", style=Style.FINE, visit=2, ns=ns, order="A")

    (flag,) = heavier_tails([fine(n, side) for n in range(30) for side in Side], ["n"])
    assert flag.startswith("n: the candidate's tail is heavier")


# ------------------------------------------------------------------ quantiles


def smallest_that_covers(values: Sequence[int], share: float) -> int:
    """By the words: at least this share of the times isn't longer."""
    return min(each for each in values if sum(other <= each for other in values) >= share * len(values))


def middle(values: Sequence[int]) -> float:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


@pytest.mark.parametrize("seed", range(40))
def test_the_quantiles_are_those_of_the_words_for_any_times(seed: int) -> None:
    draw = Random(seed)
    ns = [draw.choice([1, 2, 1000, 1001, draw.randint(1, 2**53 - 1)]) for _ in range(draw.choice([1, 2, 3, 10, 99, 100, 101]))]
    cut = draw.randint(0, len(ns) - 1)
    samples = [launch(i, 0, B, "n", part, Session.SEARCH) for i, part in enumerate((ns[:cut], ns[cut:])) if part]
    found = times_of(samples, side=B, size="n")
    assert found.mean_ns == pytest.approx(sum(ns) / len(ns), rel=1e-9, abs=0.051)
    for value, share in ((found.p90, 0.9), (found.p99, 0.99)):
        assert value == pytest.approx(smallest_that_covers(ns, share) / middle(ns), rel=1e-3, abs=1e-4)
    assert found.p99 >= found.p90


# ------------------------------------------------------------------ the mean time


def steady(effect: float, mean: float, plan_: Plan) -> list[RoundEffect]:
    """Rounds without any noise."""
    names = list(plan_.weights)
    return [
        RoundEffect(
            round=n, effect=dict.fromkeys(names, effect), mean_effect=dict.fromkeys(names, mean), duration_s=1.0,
            session=Session.SEARCH if n < 200 else Session.CONFIRM,
        )
        for n in range(400)
    ]  # fmt: skip


ONE_SIZE = plan(ONE, style=Style.FINE)


@pytest.mark.parametrize(
    ("mean", "kept"),
    [
        (-ONE_SIZE.guard + 1e-12, True),
        (-ONE_SIZE.guard - 1e-12, False),
        (-0.004, True),
        (-0.006, False),
    ],
)
def test_the_mean_time_is_held_to_its_guard_to_the_last_digit(mean: float, kept: bool) -> None:
    found = decided(steady(0.02, mean, ONE_SIZE), ONE_SIZE)
    assert (found.verdict is Verdict.KEEP) == kept, found.reasons


@pytest.mark.parametrize("percent", [0.5, 0.2, 2.0])
def test_the_guard_of_the_mean_time_is_the_protocols_and_half_a_percent_by_default(percent: float) -> None:
    keep = KeepRule(guard_percent=percent)
    wanted = plan(ONE, style=Style.FINE, keep=keep)
    if percent == 0.5:
        assert wanted == ONE_SIZE
    for factor, kept in ((0.98, True), (1.02, False)):
        found = decided(steady(0.02, math.log1p(-factor * percent / 100), wanted), wanted)
        assert (found.verdict is Verdict.KEEP) == kept, found.reasons


@pytest.mark.parametrize("mode", list(Mode))
def test_every_mode_holds_the_mean_time_to_the_guard(mode: Mode) -> None:
    wanted = replace(ONE_SIZE, mode=mode)
    assert decided(steady(0.02, 0.02, wanted), wanted).verdict is Verdict.KEEP
    assert decided(steady(0.02, -0.0055, wanted), wanted).verdict is not Verdict.KEEP


def test_a_rescuer_needs_the_mean_time_as_well() -> None:
    wanted = plan((Size(name="n", weight=0.9), Size(name="few", weight=0.1, rescuer=True)), style=Style.FINE)
    rounds = [replace(each, effect={"n": -0.001, "few": 0.02}) for each in steady(0.0, 0.0, wanted)]
    found = decided(rounds, wanted)
    assert found.verdict is Verdict.KEEP
    lost = [replace(each, mean_effect={"n": -0.008, "few": 0.02}) for each in rounds]
    assert decided(lost, wanted).verdict is not Verdict.KEEP


def test_the_mean_time_of_a_size_without_weight_decides_nothing() -> None:
    wanted = plan(sizes(n=1.0, watched=0.0), style=Style.FINE)
    rounds = [replace(each, mean_effect={"n": 0.02, "watched": -0.5}) for each in steady(0.02, 0.0, wanted)]
    assert decided(rounds, wanted).verdict is Verdict.KEEP


def test_the_tail_of_the_search_counts_in_the_mean_although_the_estimate_is_of_the_confirmation() -> None:
    """A tail in the first session only, so bad that the mean of both surely loses."""
    rounds = [
        replace(each, mean_effect={"n": -0.5 if each.session is Session.SEARCH else 0.02})
        for each in steady(0.02, 0.0, ONE_SIZE)
    ]
    found = decided(rounds, ONE_SIZE)
    assert found.procedure is not None
    assert found.verdict is not Verdict.KEEP or found.procedure.confirm_rounds > 6


def test_show_gives_median_mean_p90_and_p99_of_both_sides_at_every_size() -> None:
    wanted = sizes(a=0.5, b=0.5, unweighted=0.0)
    decision, samples = concluded(plan(wanted), tailed(9, gain=-0.05, candidate=0.1))
    found = estimates_of(decision, samples, wanted)
    record = Record(
        id="P1", title="t", kind=Kind.PERF, origin=Origin.MEASURED, target="cpu", verdict=decision.verdict,
        reasons=decision.reasons, estimates=found, flags=tail_flags(decision, samples),
    )  # fmt: skip
    lines = [line.split(maxsplit=1)[1] for line in record_lines(record) if line.startswith("  times")]
    assert [line.split(":")[0] for line in lines] == [
        f"{size}, {side}" for size in ("a", "b", "unweighted") for side in ("baseline", "candidate")
    ]
    assert all(word in line for line in lines for word in ("median ", "mean ", "p90 ", "p99 "))
    by_size: dict[str, Estimate] = {each.size: each for each in found}
    assert by_size["a"].candidate_times is not None
    assert by_size["a"].candidate_times.p99 == pytest.approx(1.65, abs=0.03)
