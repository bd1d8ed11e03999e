"""A KEEP that rests on time which the candidate does not say is refused; what both sides hide alike, or by chance, is not."""

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.protocol.model import Benchmark, KeepRule, Size, Style
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session, Side
from expctl.domain.verdict.sequential_test import Decision, MeasureMore

SIZES = (Size(name="large", weight=0.6), Size(name="small", weight=0.4))
# Of style fine whatever the rounds are, so that no KEEP waits for launches.
PLAN = Plan.of(Benchmark(argv=("run",), timeout_s=1, sizes=SIZES, style=Style.FINE), KeepRule(), Mode.GAIN)
T_NS = {"large": 3_000_000, "small": 1_400_000}
ASKING_NS, QUADS = 150_000, 10
Hide = Callable[[Side, str, int], float]
"""(side, size, visit) to the share of its time that a visit hides."""


def nothing(*_: object) -> float:
    return 0.0


def rounds(
    gain: float,
    hide: Hide = nothing,
    *,
    style: Style = Style.FINE,
    noise: float = 0.003,
    seed: int = 1,
    asking: int = ASKING_NS,
    search: int = 5,
) -> list[Sample]:
    """So many of a search and 32 of a confirmation; the candidate is really faster by `gain` and does not say what it hides."""
    draw = random.Random(seed)
    sessions = [Session.SEARCH] * search + [Session.CONFIRM] * 32
    return [
        sample
        for index, session in enumerate(sessions)
        for sample in one_round(draw, index, session, gain, hide, style, noise, asking)
    ]


def one_round(
    draw: random.Random, index: int, session: Session, gain: float, hide: Hide, style: Style, noise: float, asking: int
) -> list[Sample]:
    samples = []
    for launch, side in enumerate(Side if style is Style.FINE else [*Side, *Side]):
        for size in SIZES:
            times, hidden = [], []
            for visit in range(2 * QUADS if style is Style.FINE else 1):
                true_ns = T_NS[size.name] * math.exp(draw.gauss(0, noise) - (gain if side is Side.CANDIDATE else 0.0))
                share = hide(side, size.name, visit)
                per_visit = 1 if style is Style.FINE else 10
                times += [round(true_ns * (1 - share))] * per_visit
                hidden.append(round(per_visit * true_ns * share + asking + draw.gauss(0, 0.1 * asking)))
            samples.append(
                Sample(
                    round=index, launch=launch, side=side, size=size.name, style=style,
                    visit=1 if style is Style.FINE else 10, ns=tuple(times), order="ABBA", session=session,
                    hidden_ns=tuple(hidden),
                )
            )  # fmt: skip
    return samples


def lived(gain: float, hide: Hide, style: Style, noise: float, seed: int) -> Decision:
    """A whole run, which measures what it is asked for."""
    draw, samples, index = random.Random(seed), list[Sample](), 0
    while isinstance(answer := judge(samples, PLAN, Kind.PERF), MeasureMore):
        for _ in range(answer.rounds_left):
            samples += one_round(draw, index, answer.session, gain, hide, style, noise, ASKING_NS)
            index += 1
    return answer


def verdict(samples: list[Sample], plan: Plan = PLAN) -> Decision:
    answer = judge(samples, plan, Kind.PERF)
    assert isinstance(answer, Decision)
    return answer


def of_candidate(share: float) -> Hide:
    return lambda side, *_: share if side is Side.CANDIDATE else 0.0


@pytest.mark.parametrize(
    ("style", "share"),
    [
        *((Style.LAUNCH, share) for share in (0.006, 0.01, 0.03, 0.3)),
        *((Style.FINE, share) for share in (0.006, 0.01, 0.03, 0.3)),
    ],
)
def test_a_gain_that_is_hidden_time_is_rejected(style: Style, share: float) -> None:
    said = verdict(rounds(0.0, of_candidate(share), style=style, noise=0.001))
    assert said.verdict is Verdict.REJECT
    assert said.reasons[0].startswith("hidden time: objective +")
    unseen = [replace(each, hidden_ns=()) for each in rounds(0.0, of_candidate(share), style=style, noise=0.001)]
    assert verdict(unseen).verdict is Verdict.KEEP, "without the other clock it would have been kept"


@pytest.mark.parametrize("style", list(Style))
@pytest.mark.parametrize("share", [0.006, 0.01, 0.03, 0.3])
def test_hidden_time_is_nearly_never_kept(style: Style, share: float, long: bool) -> None:
    trials = 40 if long else 10
    found = [lived(0.0, of_candidate(share), style, 0.001, seed) for seed in range(trials)]
    assert sum(each.verdict is Verdict.KEEP for each in found) <= trials // 40
    assert sum(each.reasons[0].startswith("hidden time: ") for each in found) >= 0.8 * trials


@pytest.mark.parametrize("style", list(Style))
def test_a_gain_beyond_what_is_hidden_is_kept(style: Style) -> None:
    assert verdict(rounds(0.02, style=style)).verdict is Verdict.KEEP
    assert verdict(rounds(0.02, of_candidate(0.005), style=style)).verdict is Verdict.KEEP


def test_what_both_sides_hide_alike_is_nobodys_gain() -> None:
    assert verdict(rounds(0.02, lambda *_: 0.05)).verdict is Verdict.KEEP


def test_hiding_in_some_visits_only_does_not_help() -> None:
    """The effect of a round is a median over its quads: two lies in five move it."""
    said = verdict(rounds(0.0, lambda side, _, visit: 0.2 if side is Side.CANDIDATE and visit % 5 < 2 else 0.0))
    assert said.reasons[0].startswith("hidden time: objective +11.")


def test_a_size_may_not_regress_under_hidden_time() -> None:
    """The objective gains honestly, the small size pays for it and hides that."""

    def hide(side: Side, size: str, _: int) -> float:
        return 0.02 if side is Side.CANDIDATE and size == "small" else 0.0

    samples = [
        replace(each, ns=tuple(round(ns * 0.95) for ns in each.ns))
        if each.side is Side.CANDIDATE and each.size == "large"
        else each
        for each in rounds(-0.02, hide, search=46)
    ]
    said = verdict(samples)
    assert said.verdict is Verdict.REJECT
    assert said.reasons[0].startswith("hidden time: ")


def test_a_clock_that_sees_mostly_itself_vouches_for_nothing() -> None:
    """Asking takes longer than running: such a difference is as likely the asking's."""
    assert verdict(rounds(0.02, of_candidate(0.05), asking=20_000_000)).verdict is Verdict.KEEP


@given(st.integers(0, 10_000))
def test_noise_is_never_taken_for_hidden_time(seed: int) -> None:
    said = verdict(rounds(0.02, noise=0.004, seed=seed))
    assert not said.reasons[0].startswith("hidden time")


def test_visits_that_others_came_between_are_no_hidden_time() -> None:
    """Preemption makes a visit longer by its own clock than the processor time that it was charged."""
    draw = random.Random(5)
    samples = [
        replace(each, hidden_ns=tuple(ns - 4_000_000 if draw.random() < 0.05 else ns for ns in each.hidden_ns))
        for each in rounds(0.02)
    ]
    assert verdict(samples).verdict is Verdict.KEEP
