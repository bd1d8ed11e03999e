"""What a build does to its own clock counts; what others do to the machine doesn't."""

import math
from collections.abc import Sequence

import pytest

from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.machine.interference import BELOW_ITS_CLOCK, IS_HOT, THROTTLED_BY, may_be_own_doing
from expctl.domain.protocol.model import Benchmark, KeepRule, Size, Style
from expctl.domain.verdict.exact_tests import binomial_tail, fisher_tail
from expctl.domain.verdict.interference import counted, own_doing, taint_notes
from expctl.domain.verdict.judge import estimates_of, judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session, Side, round_effects
from expctl.domain.verdict.sequential_test import Decision

B, C = Side.BASELINE, Side.CANDIDATE
SLOW, HOT, NCU = f"nvidia 0 {BELOW_ITS_CLOCK}", f"nvidia 0 {IS_HOT}", "ncu matches ncu"
Launch = tuple[Side, Sequence[str], int]

SIZES = (Size(name="a", weight=0.5), Size(name="b", weight=0.5))
PLAN = Plan.of(Benchmark(argv=("-",), timeout_s=1, sizes=SIZES, style=Style.LAUNCH), KeepRule(), Mode.GAIN)


def launches(number: int, *each: Launch, style: Style = Style.LAUNCH) -> list[Sample]:
    return [
        Sample(
            round=number, launch=launch, side=side, size=size.name, style=style, visit=1, ns=(ns,), order="ABBA",
            taints=tuple(taints), session=Session.SEARCH,
        )
        for launch, (side, taints, ns) in enumerate(each)
        for size in SIZES
    ]  # fmt: skip


def rounds_of(count: int, tainted: Sequence[str], slow_ns: int = 1200) -> list[Sample]:
    """Rounds in which the candidate's first launch was tainted and measured again."""
    return [
        sample
        for number in range(count)
        for sample in launches(
            number, (B, (), 1000), (C, tainted, slow_ns), (C, (), 900), (C, (), 900 + number % 2), (B, (), 1000)
        )
    ]


@pytest.mark.parametrize(
    ("what", "own"),
    [
        (SLOW, True),
        (HOT, True),
        (f"the CPU {THROTTLED_BY} heat", True),
        (f"nvidia 0 {THROTTLED_BY} sw power cap", True),
        (NCU, False),
        ("nvidia 0 is busy", False),
        ("nvidia-smi stopped answering", False),
        ("the machine was suspended", False),
    ],
)
def test_only_states_of_the_clock_may_be_the_builds_own_doing(what: str, own: bool) -> None:
    assert may_be_own_doing(what) is own


def test_five_launches_of_the_candidate_and_none_of_the_baseline_count() -> None:
    for count, counts in ((4, False), (5, True)):
        samples = rounds_of(count, [SLOW])
        assert own_doing(samples).counts is counts
        effects = [each.effect["a"] for each in round_effects(counted(samples))]
        second = [math.log(900 + number % 2) for number in range(count)]
        first = math.log(1200 if counts else 900)
        assert effects == pytest.approx([math.log(1000) - (first + each) / 2 for each in second])


@pytest.mark.parametrize("taints", [[NCU], [NCU, SLOW]])
def test_beside_foreign_work_the_clock_says_nothing_about_the_build(taints: list[str]) -> None:
    samples = rounds_of(12, taints)
    assert counted(samples) is samples


def test_launches_of_both_sides_alike_are_the_machines_doing() -> None:
    samples = rounds_of(9, [SLOW])
    for number in range(20, 25):
        samples += launches(number, (B, [HOT], 1300), (B, (), 1000), (C, (), 900), (C, (), 900), (B, (), 1000))
    assert (len(own_doing(samples).candidate), len(own_doing(samples).baseline)) == (9, 5)
    assert counted(samples) is samples


def test_the_baselines_own_launches_never_count() -> None:
    samples = [
        sample
        for number in range(9)
        for sample in launches(number, (B, [SLOW], 1300), (B, (), 1000), (C, (), 900), (C, (), 900), (B, (), 1000))
    ]
    assert counted(samples) is samples


def test_the_first_launch_of_a_place_that_nobody_else_disturbed_counts_and_its_repetitions_do_not() -> None:
    samples = rounds_of(5, [SLOW])
    place = [(C, [NCU], 5000), (C, [HOT], 1500), (C, [SLOW], 1400), (C, (), 900)]
    samples += launches(5, (B, (), 1000), *place, (C, (), 900), (B, (), 1000))
    last = [each for each in counted(samples) if each.round == 5 and each.side is C]
    assert [each.ns for each in last] == [(1500,), (1500,), (900,), (900,)]
    assert all(not each.taints for each in last)


def test_a_round_that_was_never_measured_again_stays_lost() -> None:
    samples = rounds_of(5, [SLOW])
    lost = launches(5, (B, [SLOW], 1000), (C, [SLOW], 1000), (C, [SLOW], 1000), (B, [SLOW], 1000))
    assert own_doing([*samples, *lost]).candidate >= {(5, 1), (5, 2)}
    many = rounds_of(9, [SLOW])
    lost = launches(9, (B, (), 1000), (C, [SLOW], 1000))
    assert [each for each in counted([*many, *lost]) if each.round == 9] == lost


def test_workers_that_take_turns_have_no_side() -> None:
    samples = [each for number in range(9) for each in launches(number, (B, (), 1), (C, [SLOW], 1), style=Style.FINE)]
    assert counted(samples) is samples


def test_each_note_names_the_side() -> None:
    few, many = rounds_of(2, [SLOW]), rounds_of(7, [SLOW])
    assert taint_notes(few) == (f"tainted, measured again and left out: 2 launches (2 of the candidate), {SLOW}",)
    assert taint_notes(many) == (
        f"tainted, and counted all the same: 7 launches (7 of the candidate), {SLOW}: its own doing, for the baseline had none "
        "of this kind",
    )
    others = launches(7, (B, [NCU], 1), (B, (), 1000), (C, [HOT], 1), (C, (), 900), (C, (), 900), (B, (), 1000))
    assert taint_notes([*many, *others])[0].endswith("1 launch (1 of the baseline), ncu matches ncu")


def test_a_gain_between_its_own_throttled_launches_is_none() -> None:
    """Eleven rounds in forty, so that it is not the machine that is unstable."""
    clean = [
        sample
        for number in range(11, 46)
        for sample in launches(number, (B, (), 1000), (C, (), 995), (C, (), 994 + number % 3), (B, (), 1000))
    ]
    disturbed = rounds_of(11, [SLOW], 1200)
    answer = judge([*disturbed, *clean], PLAN, Kind.PERF)
    assert isinstance(answer, Decision)
    assert answer.verdict is not Verdict.KEEP
    by_others = rounds_of(11, [NCU], 1200)
    assert not isinstance(judge([*by_others, *clean], PLAN, Kind.PERF), Decision), "the search found a gain to confirm"


def test_estimates_are_of_the_launches_that_counted() -> None:
    samples = rounds_of(13, [SLOW], 1200)
    clean = [each for number in range(13, 60) for each in launches(number, *[(s, (), 1000) for s in (B, C, C, B)])]
    answer = judge([*samples, *clean], PLAN, Kind.PERF)
    assert isinstance(answer, Decision)
    estimate = estimates_of(answer, [*samples, *clean], SIZES)[1]
    assert estimate.size == "a"
    assert estimate.candidate_ns > 900


def test_the_exact_tests_are_those_of_the_books() -> None:
    assert binomial_tail(5, 5) == 1 / 32
    assert binomial_tail(0, 0) == 1
    assert binomial_tail(8, 10) == pytest.approx(56 / 1024)
    assert fisher_tail(3, 4, 1, 4) == pytest.approx(17 / 70)  # Fisher's lady and her tea
    assert fisher_tail(0, 10, 0, 10) == 1
