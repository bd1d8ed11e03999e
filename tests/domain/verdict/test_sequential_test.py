"""Every way in which `decide` can answer, and what must not change an answer."""

import math
import re
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.protocol.boundaries import FUTILITY, KEEP, LOOKS, REGRESSION, VERSION, at
from expctl.domain.protocol.model import Benchmark, KeepRule, Size
from expctl.domain.verdict.evidence import OBJECTIVE, describe, evidence_of
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.sequential_test import CONFIRM_MERGES, Decision, MeasureMore, confirm_rounds, decide
from expctl.domain.verdict.statistics import lower_bound, t95, t_interval, upper_bound

PLAN = Plan(weights={"big": 0.6, "small": 0.4}, mode=Mode.GAIN, guard=0.005, regression=0.003, worthwhile=0.005, simplify=0.005)
COSTLY = replace(PLAN, mode=Mode.GAIN_COSTLY)
SIMPLIFY = replace(PLAN, mode=Mode.SIMPLIFY)
USED_UP = replace(SIMPLIFY, simplify_used=0.005)
ONE_RESCUER = replace(PLAN, rescuers=("small",))
TWO_RESCUERS = replace(PLAN, rescuers=("big", "small"))

MOST = LOOKS[-1]


def session(
    big: float, small: float, noise: float, n: int = MOST, which: Session = Session.SEARCH, apart: float = 0.0, slowly: int = 1
) -> list[RoundEffect]:
    """Rounds whose effects (percent) have about these means; `noise` alternates in both sizes, `apart` against each other."""
    signs = [(-1) ** (i // slowly) for i in range(n)]
    return [
        RoundEffect(
            round=i + (MOST if which is Session.CONFIRM else 0),
            effect={"big": (big + (noise + apart) * s) / 100, "small": (small + (noise - 1.5 * apart) * s) / 100},
            session=which,
            duration_s=2.5,
        )
        for i, s in enumerate(signs)
    ]


def confirm(big: float, small: float, noise: float) -> list[RoundEffect]:
    """Long enough for every search; the noise changes sign with each pair, for pairs are what a confirmation looks at."""
    return session(big, small, noise, confirm_rounds(MOST), Session.CONFIRM, slowly=2)


def decided(effects: Sequence[RoundEffect], plan: Plan = PLAN) -> Decision:
    decision = decide(effects, plan)
    assert isinstance(decision, Decision), decision
    return decision


V = Verdict
SEARCHES = {
    # line 2
    "one size pays for the other": (session(5, -1, 0.1), PLAN, V.REJECT, "small regresses: -0.98 %", 5),
    "both sizes lose": (session(-2, -2, 0.2), PLAN, V.REJECT, "big regresses", 5),
    "a loss beyond the tolerance at a later look": (session(1.5, -1, 0.5), PLAN, V.REJECT, "small regresses", 10),
    "line 2 comes before line 5": (session(-1, -1, 0.05), PLAN, V.REJECT, "big regresses", 5),
    "simplify, beyond budget and tolerance": (session(-1, -1, 0.1), SIMPLIFY, V.REJECT, "regresses", 5),
    # line 5
    "no effect, measured well": (session(0, 0, 0.05), PLAN, V.REJECT, "a gain of 0.5 % is ruled out", 5),
    "no effect, measured badly": (session(0, 0, 0.5), PLAN, V.REJECT, "a gain of 0.5 % is ruled out", 13),
    "a gain, not worth complex code": (session(0.3, 0.3, 0.15), COSTLY, V.REJECT, "a gain of 0.7 % is ruled out", 6),
    "simplify, surely slower": (session(-0.45, -0.45, 0.12), SIMPLIFY, V.REJECT, "no loss is ruled out", 5),
    "simplify, slower, budget used up": (session(-0.2, -0.2, 0.05), USED_UP, V.REJECT, "no loss is ruled out", 5),
    "no rescuer helps": (session(0, 0, 0.05), TWO_RESCUERS, V.REJECT, "is ruled out", 5),
    "both borders at once, a guard fails": (
        session(0.9, -0.45, 0.001, apart=0.3), PLAN, V.REJECT, "a gain of 0.5 % is ruled out", 5,
    ),
    # line 6
    "no effect in much noise": (session(0, 0, 3), PLAN, V.INCONCLUSIVE, "rounds (about", MOST),
    "a gain in much noise": (session(1, 1, 3), PLAN, V.INCONCLUSIVE, "would decide", MOST),
    "a gain with a size unguarded": (session(3, 0, 0.1, apart=1.6), PLAN, V.INCONCLUSIVE, "objective +1.8", MOST),
    "a rescuer undecided keeps the search open": (
        session(0, 0, 0.01, apart=1.5), ONE_RESCUER, V.INCONCLUSIVE, "would decide", MOST,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SEARCHES)
def test_the_search_ends(name: str) -> None:
    effects, plan, verdict, words, n = SEARCHES[name]
    decision = decided(effects, plan)
    assert decision.procedure is not None
    assert (decision.verdict, words in decision.reasons[0], decision.procedure.search_rounds) == (verdict, True, n), decision
    assert decision.rounds == tuple(range(n))
    assert decision.procedure.looks == tuple(look for look in LOOKS if look <= n)
    assert (decision.procedure.confirm_rounds, decision.procedure.boundaries) == (0, VERSION)


GAIN = session(2, 2, 0.2)
CONFIRMATIONS = {
    "a gain": (GAIN, confirm(1.8, 1.8, 0.2), PLAN, V.KEEP, "objective +1.8", 5),
    "line 3 before line 5: a small gain, measured well": (
        session(0.2, 0.2, 0.02), confirm(0.2, 0.2, 0.02), PLAN, V.KEEP, "gain beyond noise", 5,
    ),
    "a gain that pays for complex code": (
        session(1, 1, 0.1), confirm(1, 1, 0.1), COSTLY, V.KEEP, "gains more than 0.2 %", 5,
    ),
    "simplify, as fast": (session(0, 0, 0.05), confirm(0, 0, 0.05), SIMPLIFY, V.KEEP, "loses less than 0.5 %", 5),
    "simplify, a little slower": (
        session(-0.2, -0.2, 0.03), confirm(-0.2, -0.2, 0.03), SIMPLIFY, V.KEEP, "loses less than 0.5 %", 5,
    ),
    "simplify, part of the budget used": (
        session(0, 0, 0.02), confirm(0, 0, 0.02), replace(SIMPLIFY, simplify_used=0.003), V.KEEP, "less than 0.2 %", 5,
    ),
    "simplify, budget used up, but faster": (
        session(0.4, 0.4, 0.03), confirm(0.4, 0.4, 0.03), USED_UP, V.KEEP, "gain beyond noise", 5,
    ),
    "nothing the second time": (GAIN, confirm(0, 0, 0.2), PLAN, V.INCONCLUSIVE, "not confirmed: the search saw", 5),
    "a loss the second time": (GAIN, confirm(-2, -2, 0.2), PLAN, V.REJECT, "big regresses in the confirmation", 5),
    "a guard fails the second time": (GAIN, confirm(3, -0.45, 0.2), PLAN, V.INCONCLUSIVE, "not confirmed", 5),
    "a rescuer": (
        session(-0.3, 0.6, 0.04), confirm(-0.3, 0.6, 0.04), ONE_RESCUER, V.KEEP, "rescued by size small, small +0.6", 5,
    ),
    "a rescuer, not confirmed": (
        session(-0.3, 0.6, 0.04), confirm(-0.3, 0.0, 0.04), ONE_RESCUER, V.INCONCLUSIVE, "the search saw small", 5,
    ),
    "the objective goes before its rescuers": (GAIN, confirm(2, 2, 0.2), TWO_RESCUERS, V.KEEP, "objective", 5),
    "a rescuer does not loosen simplify": (
        session(-0.2, 0.1, 0.03), confirm(-0.2, 0.1, 0.03), replace(SIMPLIFY, rescuers=("small",)), V.KEEP, "objective", 5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIRMATIONS)
def test_the_confirmation_ends(name: str) -> None:
    search, again, plan, verdict, words, n = CONFIRMATIONS[name]
    fresh = confirm_rounds(n)
    assert decide(search[:n], plan) == MeasureMore(rounds_left=fresh, session=Session.CONFIRM)
    assert decide([*search[:n], *again[:4]], plan) == MeasureMore(rounds_left=fresh - 4, session=Session.CONFIRM)
    decision = decided([*search, *again], plan)
    assert decision.procedure is not None
    assert (decision.verdict, words in decision.reasons[0]) == (verdict, True), decision
    assert (decision.procedure.search_rounds, decision.procedure.confirm_rounds) == (n, fresh)
    assert decision.rounds == tuple(range(MOST, MOST + fresh))
    assert decision.intervals[OBJECTIVE].rounds == fresh
    assert decision.intervals[OBJECTIVE] == evidence_of(again[:fresh], plan, CONFIRM_MERGES).objective
    assert decision.procedure.rescued_by == ("small" if "rescuer" in name and plan is ONE_RESCUER else "")


@pytest.mark.parametrize(("search", "fresh"), [(5, 18), (10, 18), (13, 20), (17, 26), (22, 34), (28, 42), (36, 54), (46, 70)])
def test_a_confirmation_is_half_as_long_again_in_whole_pairs(search: int, fresh: int) -> None:
    assert confirm_rounds(search) == fresh


def test_a_late_search_is_confirmed_by_more_rounds() -> None:
    search = session(1, 1, 0.9)
    first = decide(search, PLAN)
    assert isinstance(first, MeasureMore)
    assert (first.session, first.rounds_left) == (Session.CONFIRM, 26)


def test_a_rescuer_needs_an_objective_that_stays() -> None:
    plan = replace(ONE_RESCUER, guard=0.05, regression=0.05)
    assert isinstance(decided(session(-2, 1.2, 0.05), plan), Decision)
    assert decided(session(-2, 1.2, 0.05), plan).verdict is not Verdict.KEEP


def test_more_rescuers_are_each_held_to_more() -> None:
    search = session(-0.1, 0.4, 0.075)
    assert decide(search[:5], ONE_RESCUER) == MeasureMore(rounds_left=18, session=Session.CONFIRM)
    assert decide(search[:5], TWO_RESCUERS) == MeasureMore(rounds_left=1)


def test_a_regression_of_each_size_is_a_reason_of_its_own() -> None:
    decision = decided(session(-2, -3, 0.1))
    assert [reason.split()[0] for reason in decision.reasons] == ["big", "small"]


def test_the_intervals_are_of_the_objective_and_of_each_size() -> None:
    effects = session(-2, -1, 0.1)
    intervals = decided(effects).intervals
    assert list(intervals) == [OBJECTIVE, "big", "small"]
    assert intervals["big"] == t_interval([each.effect["big"] for each in effects[:5]])
    assert intervals[OBJECTIVE].mean == pytest.approx(0.6 * intervals["big"].mean + 0.4 * intervals["small"].mean)


def test_the_price_of_deciding_is_what_would_decide_if_the_means_stand() -> None:
    decision = decided(session(0.4, 0.4, 3))
    objective = decision.intervals[OBJECTIVE]
    keep = math.ceil((KEEP[-1] * objective.sd / objective.mean) ** 2)
    futile = math.ceil((FUTILITY[-1] * objective.sd / (0.005 - objective.mean)) ** 2)
    wanted = min(keep, futile)
    assert f"about {wanted} rounds (about {math.ceil(wanted * 2.5 / 60)} minutes) would decide" in decision.reasons[0]


@pytest.mark.parametrize("effect", [0.4, 0.7, -0.2])
def test_an_undecided_reason_shows_the_bounds_that_left_it_open_and_not_the_interval_alone(effect: float) -> None:
    reason = decided(session(effect, effect, 3)).reasons[0]
    found = re.search(r"by the bounds of the test at this look ([-+.\d]+) % to ([-+.\d]+) %, is neither above", reason)
    assert found, reason
    assert float(found[1]) <= 0
    assert float(found[2]) >= 0.5


def test_a_record_of_before_keeps_its_words() -> None:
    now, then = (decided(session(0.4, 0.4, 3), replace(PLAN, words=words)) for words in (1, 0))
    assert "by the bounds" not in then.reasons[0]
    assert "] is neither above +0.0 % nor below +0.5 %: about" in then.reasons[0]
    assert (now.procedure, now.intervals) == (replace(then.procedure, words=1), then.intervals)  # type: ignore[type-var]


def test_without_durations_there_are_no_minutes() -> None:
    effects = [replace(each, duration_s=0.0) for each in session(0, 0, 3)]
    assert "minutes" not in decided(effects).reasons[0]


# ------------------------------------------------------------------ peeking


@given(st.integers(0, 4))
def test_before_the_first_look_nothing_decides(n: int) -> None:
    assert decide(session(50, 50, 0.1)[:n], PLAN) == MeasureMore(rounds_left=5 - n)


EFFECT = st.floats(-0.03, 0.03)
PATHS = st.tuples(
    st.lists(st.tuples(EFFECT, EFFECT), min_size=MOST, max_size=MOST), st.floats(-0.02, 0.02), st.floats(0.05, 1.0)
).map(lambda drawn: [(drawn[1] + drawn[2] * b, drawn[1] + drawn[2] * s) for b, s in drawn[0]])
LONGER = st.tuples(PATHS, PATHS).map(lambda two: [*two[0], *two[1]][: confirm_rounds(MOST)])
PLANS = st.sampled_from([PLAN, COSTLY, SIMPLIFY, USED_UP, ONE_RESCUER, TWO_RESCUERS])


def path(pairs: Sequence[tuple[float, float]], which: Session = Session.SEARCH) -> list[RoundEffect]:
    first = MOST if which is Session.CONFIRM else 0
    return [RoundEffect(round=first + i, effect={"big": b, "small": s}, session=which) for i, (b, s) in enumerate(pairs)]


@given(PATHS, PLANS)
def test_peeking_is_impossible(pairs: list[tuple[float, float]], plan: Plan) -> None:
    """Between looks the answer is always to go on to the next look, whatever the rounds say."""
    search = path(pairs)
    for n in range(MOST + 1):
        answer = decide(search[:n], plan)
        if n not in LOOKS:
            ended = decide(search[: max((look for look in LOOKS if look < n), default=0)], plan)
            still = isinstance(ended, MeasureMore) and ended.session is Session.SEARCH
            coming = min(look for look in LOOKS if look > n)
            assert answer == (MeasureMore(rounds_left=coming - n) if still else ended)


@given(st.sampled_from([n for n in range(5, MOST) if n not in LOOKS]))
def test_an_overwhelming_effect_that_starts_after_a_look_waits_for_the_next(n: int) -> None:
    before = max(look for look in LOOKS if look < n)
    rounds = [*session(0.25, 0.25, 2, before), *session(40, 40, 0, MOST - before)]
    assert decide(rounds[:n], PLAN) == MeasureMore(rounds_left=min(look for look in LOOKS if look > n) - n)


@given(PATHS, LONGER, PLANS, st.integers(0, MOST), st.integers(0, MOST))
def test_dropping_the_tail_after_a_decision_changes_nothing(
    pairs: list[tuple[float, float]], more: list[tuple[float, float]], plan: Plan, tail: int, fresh_tail: int
) -> None:
    decision = decided([*path(pairs), *path(more, Session.CONFIRM)], plan)
    procedure = decision.procedure
    assert procedure is not None
    search = path(pairs)[: max(procedure.search_rounds, tail)]
    again = path(more, Session.CONFIRM)[: max(procedure.confirm_rounds, fresh_tail)]
    assert decided([*search, *again], plan) == decision


def test_a_plan_can_cut_the_looks_at_the_end_only() -> None:
    short = replace(PLAN, rounds=10)
    assert decided(session(0, 0, 3), short).procedure == replace(
        decided(session(0, 0, 3)).procedure,
        looks=(5, 6, 8, 10),
        search_rounds=10,  # type: ignore[type-var]
    )
    with pytest.raises(ValueError, match="has no look"):
        decide(session(0, 0, 3), replace(PLAN, rounds=4))


# ------------------------------------------------------------------ symmetry


@given(PATHS, LONGER, st.sampled_from([PLAN, COSTLY, USED_UP, TWO_RESCUERS]))
def test_swapping_the_labels_swaps_the_sign_and_never_keeps_both(
    pairs: list[tuple[float, float]], more: list[tuple[float, float]], plan: Plan
) -> None:
    one = [*path(pairs), *path(more, Session.CONFIRM)]
    other = [replace(each, effect={size: -x for size, x in each.effect.items()}) for each in one]
    for size, found in evidence_of(one, plan).intervals.items():
        swapped = evidence_of(other, plan).intervals[size]
        assert (swapped.mean, swapped.low, swapped.high) == pytest.approx((-found.mean, -found.high, -found.low), abs=1e-15)
    assert [decided(one, plan).verdict, decided(other, plan).verdict].count(Verdict.KEEP) <= 1


@given(PATHS, LONGER, PLANS)
def test_a_keep_means_what_it_says(pairs: list[tuple[float, float]], more: list[tuple[float, float]], plan: Plan) -> None:
    decision = decided([*path(pairs), *path(more, Session.CONFIRM)], plan)
    assert decision.reasons
    if decision.verdict is Verdict.KEEP:
        procedure = decision.procedure
        assert procedure is not None
        n = procedure.confirm_rounds
        assert n == confirm_rounds(procedure.search_rounds)
        pairs_seen = n // CONFIRM_MERGES
        name = procedure.rescued_by or OBJECTIVE
        assert lower_bound(decision.intervals[name], t95(pairs_seen)) > (
            max(0.0, plan.floor) if procedure.rescued_by else plan.floor
        )
        assert min(lower_bound(decision.intervals[size], t95(pairs_seen)) for size in plan.weights) > -plan.guard


@given(PATHS, PLANS, st.integers(0, 1000))
def test_the_order_of_the_rounds_before_a_first_look_does_not_matter(
    pairs: list[tuple[float, float]], plan: Plan, seed: int
) -> None:
    effects = path(pairs)[:5]
    shuffled = list(effects)
    Random(seed).shuffle(shuffled)
    one, other = decide(effects, plan), decide(shuffled, plan)
    assert (isinstance(one, MeasureMore), getattr(one, "verdict", one)) == (
        isinstance(other, MeasureMore), getattr(other, "verdict", other),
    )  # fmt: skip


def test_the_critical_values_are_those_of_the_look() -> None:
    """sd 1 and n = 10: the bounds are mean -+ value / sqrt(10)."""
    rounds = session(0.2, 0.2, 0.5, 10)
    seen = evidence_of(rounds, PLAN)
    sd = seen.objective.sd
    assert lower_bound(seen.objective, at(KEEP, 10)) == pytest.approx(seen.objective.mean - 5.17 * sd / math.sqrt(10))
    assert upper_bound(seen.objective, at(REGRESSION, 10)) == pytest.approx(seen.objective.mean + 5.71 * sd / math.sqrt(10))


# ------------------------------------------------------------------ the plan


def test_a_plan_takes_percent_from_the_protocol() -> None:
    sizes = (Size(name="big", weight=1.0), Size(name="small", weight=0.0, rescuer=True))
    benchmark = Benchmark(argv=("b",), timeout_s=1, sizes=sizes, rounds=8)
    keep = KeepRule(guard_percent=1, regression_percent=2, worthwhile_percent=3, simplify_percent=4, costly_percent=5)
    plan = Plan.of(benchmark, keep, Mode.SIMPLIFY, simplify_used_percent=1.5)
    assert plan == Plan(
        weights={"big": 1.0, "small": 0.0},
        rounds=8,
        mode=Mode.SIMPLIFY,
        guard=0.01,
        regression=0.02,
        worthwhile=0.03,
        simplify=0.04,
        costly=0.05,
        rescuers=("small",),
        simplify_used=0.015,
    )


def test_the_borders_of_the_modes() -> None:
    assert [(p.floor, p.ceiling, p.tolerance) for p in (PLAN, COSTLY, SIMPLIFY, USED_UP)] == [
        (0.0, 0.005, 0.003), (0.002, 0.007, 0.003), (-0.005, 0.0, 0.005), (0.0, 0.0, 0.003),
    ]  # fmt: skip


def test_an_interval_is_described_in_percent_of_throughput() -> None:
    assert describe(t_interval([math.log(1.02)] * 3)) == "+2.00 % [+2.00, +2.00]"
