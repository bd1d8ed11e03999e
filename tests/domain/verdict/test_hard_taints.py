"""Whose interference it is, where a build or a machine would like to be mistaken for the other."""

from collections.abc import Sequence
from random import Random

import pytest

from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.machine.interference import BELOW_ITS_CLOCK, IS_HOT, THROTTLED_BY, may_be_own_doing
from expctl.domain.verdict.interference import counted, own_doing, taint_notes
from expctl.domain.verdict.judge import estimates_of, judge, tail_flags
from expctl.domain.verdict.samples import Sample, Session, Side, round_effects
from expctl.domain.verdict.sequential_test import Decision
from tests.domain.verdict.made_samples import B, C, launch, plan, sizes

SLOW, HOT, POWER = f"nvidia 0 {BELOW_ITS_CLOCK}", f"nvidia 0 {IS_HOT}", f"nvidia 0 {THROTTLED_BY} sw power cap"
NCU, UNKNOWN = "ncu matches ncu", "gremlins in the room"
TWO = sizes(a=0.5, b=0.5)
PLAN = plan(TWO)
Place = tuple[Side, Sequence[str], int]


def round_of(number: int, *places: Place, names: Sequence[str] = ("a", "b"), session: Session = Session.SEARCH) -> list[Sample]:
    return [
        launch(number, place, side, name, [ns] * 10, session, *taints)
        for place, (side, taints, ns) in enumerate(places)
        for name in names
    ]


def clean(number: int, candidate: int = 1000) -> list[Sample]:
    return round_of(number, (B, (), 1000), (C, (), candidate), (C, (), candidate), (B, (), 1000))


def disturbed(number: int, side: Side, taints: Sequence[str], slow: int = 1500, again: int = 900) -> list[Sample]:
    """A round in which the first launch of a side was disturbed and measured again."""
    other = 1000 if side is C else 900
    first, last = ((side, taints, slow), (side, (), again)), (side, (), again)
    if side is C:
        return round_of(number, (B, (), other), *first, last, (B, (), other))
    return round_of(number, *first, (C, (), other), (C, (), other), last)


@pytest.mark.parametrize(
    ("candidate", "baseline", "counts"),
    [(4, 0, False), (5, 0, True), (6, 1, False), (7, 1, True), (8, 2, False), (9, 2, True), (0, 9, False), (20, 20, False)],
)
def test_more_often_is_an_exact_one_sided_test_of_launches(candidate: int, baseline: int, counts: bool) -> None:
    """Of 8 launches 7: 9/256 = 3.5 %. Of 7 launches 6: 8/128 = 6.3 %. Of 11, 9: 3.3 %. Of 10, 8: 5.5 %."""
    samples = [each for n in range(candidate) for each in disturbed(n, C, [POWER])]
    samples += [each for n in range(50, 50 + baseline) for each in disturbed(n, B, [HOT])]
    assert own_doing(samples).counts is counts
    assert (counted(samples) is not samples) == counts


def test_a_launch_with_several_own_taints_at_several_sizes_is_one_launch() -> None:
    """Four launches, each hot, slow and throttled, at two sizes: four heads of four, 6.3 %."""
    samples = [each for n in range(4) for each in disturbed(n, C, [HOT, SLOW, POWER])]
    assert not own_doing(samples).counts
    assert len(own_doing(samples).candidate) == 4


def test_a_taint_at_one_size_alone_disturbs_its_launch_once() -> None:
    samples = [each for n in range(5) for each in disturbed(n, C, [SLOW])]
    only_b = [
        launch(s.round, s.launch, s.side, s.size, s.ns, Session.SEARCH, *(s.taints if s.size == "b" else ())) for s in samples
    ]
    assert len(own_doing(only_b).candidate) <= 5
    judge(only_b, PLAN, Kind.PERF)


@pytest.mark.parametrize("taints", [[UNKNOWN], [UNKNOWN, SLOW], ["", SLOW], [SLOW.upper()]])
def test_a_taint_that_nobody_knows_is_nobodys_own_doing(taints: list[str]) -> None:
    samples = [each for n in range(12) for each in disturbed(n, C, taints)]
    assert counted(samples) is samples
    effects = {effect for each in round_effects(counted(samples)) for effect in each.effect.values()}
    assert min(effects) > 0, "the disturbed launches are left out"


@pytest.mark.parametrize("who", ["is hot", "is throttled by", "runs below its clock"])
def test_a_process_with_a_misleading_name_is_a_process(who: str) -> None:
    assert not may_be_own_doing(f"{who} matches *{who}*")


def test_the_first_launches_count_whatever_their_repetitions_say() -> None:
    """Where a candidate's disturbed launches count, the verdict is the same however long their repetitions take."""
    answers = []
    for again in (100, 900, 1000, 5000):
        samples = [each for n in range(9) for each in disturbed(n, C, [POWER], again=again)]
        # The other launch of the candidate stays as it is.
        samples = [s if s.launch != 3 else launch(s.round, 3, C, s.size, [900] * 10, Session.SEARCH) for s in samples]
        samples += [each for n in range(9, 46) for each in clean(n)]
        answer = judge(samples, PLAN, Kind.PERF)
        assert isinstance(answer, Decision)
        answers.append((answer.verdict, answer.intervals, estimates_of(answer, samples, TWO)))
    assert all(each == answers[0] for each in answers)


def test_foreign_work_beside_the_candidate_changes_nothing_however_slow_it_makes_it() -> None:
    answers = []
    for slow in (1, 900, 10_000):
        samples = [each for n in range(5) for each in disturbed(n, C, [NCU], slow=slow)]
        samples += [each for n in range(5, 46) for each in clean(n, 1000 + n % 2)]
        answers.append(judge(samples, PLAN, Kind.PERF))
    assert all(each == answers[0] for each in answers)


@pytest.mark.parametrize("seed", range(10))
def test_a_build_that_throttles_itself_is_never_kept_for_its_better_launches(seed: int) -> None:
    """3 % faster while it lasts, 20 % slower in a third of its launches."""
    draw = Random(seed)

    def measured(number: int, session: Session) -> list[Sample]:
        places: list[Place] = []
        for side in (B, C, C, B):
            if side is C and draw.random() < 1 / 3:
                places.append((C, [draw.choice([SLOW, HOT, POWER])], 1_164_000 + draw.randrange(3000)))
            places.append((side, (), (970_000 if side is C else 1_000_000) + draw.randrange(3000)))
        return round_of(number, *places, session=session)

    samples: list[Sample] = []
    number = 0
    while not isinstance(answer := judge(samples, PLAN, Kind.PERF), Decision):
        for _ in range(answer.rounds_left):
            samples += measured(number, answer.session)
            number += 1
    assert answer.verdict is not Verdict.KEEP, answer.reasons


@pytest.mark.parametrize("seed", range(10))
def test_a_machine_that_throttles_both_sides_alike_costs_no_gain(seed: int) -> None:
    """One launch in forty on either side, which is measured again."""
    draw = Random(seed)
    samples: list[Sample] = []
    number = 0
    while not isinstance(answer := judge(samples, PLAN, Kind.PERF), Decision):
        for _ in range(answer.rounds_left):
            places: list[Place] = []
            for side in (B, C, C, B):
                if draw.random() < 1 / 40:
                    places.append((side, [SLOW], 1_500_000))
                places.append((side, (), (970_000 if side is C else 1_000_000) + draw.randrange(3000)))
            samples += round_of(number, *places, session=answer.session)
            number += 1
    hit = own_doing(samples)
    assert answer.verdict is Verdict.KEEP or hit.counts, (answer.reasons, len(hit.candidate), len(hit.baseline))


@pytest.mark.parametrize("taint", [SLOW, NCU, UNKNOWN])
def test_too_many_lost_rounds_are_invalid_whoever_did_it(taint: str) -> None:
    """Three of nine rounds in which nothing was left undisturbed, beside a candidate that is clearly slower."""
    lost = [(B, [taint], 1000), (C, [taint], 1000), (C, [taint], 1000), (B, [taint], 1000)]
    samples = [each for n in range(3) for each in round_of(n, *lost)]
    samples += [each for n in range(3, 9) for each in disturbed(n, C, [POWER])]
    answer = judge(samples, PLAN, Kind.PERF)
    assert isinstance(answer, Decision)
    assert answer.verdict is Verdict.INVALID
    assert taint in answer.reasons[0]


@pytest.mark.parametrize("taint", [SLOW, HOT, POWER])
def test_a_candidate_that_is_never_undisturbed_is_judged_by_the_launches_that_it_has(taint: str) -> None:
    """All of its launches are throttled, none of the baseline's, and no repetition is any better: it is 50 % slower."""
    throttled: list[Place] = [(C, [taint], 1500)] * 4
    samples = [
        each
        for n in range(8)
        for each in round_of(n, (B, (), 1000), *throttled, *throttled, (B, (), 1000 + n % 2))
    ]  # fmt: skip
    answer = judge(samples, PLAN, Kind.PERF)
    assert isinstance(answer, Decision)
    assert answer.verdict in (Verdict.REJECT, Verdict.INVALID)


def test_each_note_counts_the_launches_of_each_side() -> None:
    draw = Random(11)
    samples, hit = [], {(side, what): 0 for side in Side for what in (NCU, UNKNOWN)}
    for n in range(40):
        side, what = draw.choice(list(Side)), draw.choice([NCU, UNKNOWN, ""])
        samples += disturbed(n, side, [what]) if what else clean(n)
        if what:
            hit[side, what] += 1
    notes = taint_notes(samples)
    assert len(notes) == 2
    for what in (NCU, UNKNOWN):
        (note,) = [each for each in notes if what in each]
        assert f"{hit[B, what]} of the baseline and {hit[C, what]} of the candidate" in note
        assert f"{hit[B, what] + hit[C, what]} launches" in note


def test_throttled_launches_that_count_are_in_the_tail_of_the_candidate() -> None:
    """In every fifth round one launch takes three times as long by the candidate's own doing."""
    samples: list[Sample] = []
    number = 0
    while not isinstance(answer := judge(samples, PLAN, Kind.PERF), Decision):
        for _ in range(answer.rounds_left):
            first = disturbed(number, C, [POWER], slow=3000) if number % 5 == 4 else clean(number, 980 + number % 2 * 40)
            samples += [launch(s.round, s.launch, s.side, s.size, s.ns, answer.session, *s.taints) for s in first]
            number += 1
    assert answer.verdict is not Verdict.KEEP
    times = estimates_of(answer, samples, TWO)[1].candidate_times
    assert times is not None
    assert times.mean_ns > 1000
    assert times.p99 > 1.5
    assert len(tail_flags(answer, samples)) in (0, 2), "both sizes or, after few rounds, none"
