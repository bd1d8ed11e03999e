"""The lines of the confirmation one by one: what a KEEP needs, what ends it early, and how long it may take."""

import math
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.protocol.boundaries import CONFIRM
from expctl.domain.verdict.evidence import OBJECTIVE, evidence_of
from expctl.domain.verdict.lasting_gain import fades, launches_needed, loses_mean_time, mean_time
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.sequential_test import MeasureMore, decide
from expctl.domain.verdict.statistics import t95, t999
from tests.domain.verdict.made_rounds import MOST, PLAN, decided, fresh, loss, more, rounds

LAUNCH = replace(PLAN, slow_launch=0.15)
COSTLY = replace(PLAN, mode=Mode.GAIN_COSTLY)
SIMPLIFY = replace(PLAN, mode=Mode.SIMPLIFY)
USED_UP = replace(SIMPLIFY, simplify_used=0.005)
ONE_RESCUER = replace(PLAN, rescuers=("small",))
GAIN = rounds(2, 2, 0.2)  # five rounds are enough to go on
V = Verdict

CONFIRMATIONS = {
    "a gain": (GAIN, fresh(1.8, 1.8, 0.2), PLAN, V.KEEP, "gain beyond noise; no size regresses", (5, 6)),
    "a small gain, measured well": (
        rounds(0.2, 0.2, 0.002), fresh(0.2, 0.2, 0.002), PLAN, V.KEEP, "gain beyond noise", (3, 6),
    ),
    "a gain that pays for complex code": (
        rounds(1, 1, 0.05), fresh(1, 1, 0.05), COSTLY, V.KEEP, "gains more than 0.2 %", (4, 6),
    ),
    "a gain that does not": (
        rounds(1, 1, 0.05), fresh(0.15, 0.15, 0.05), COSTLY, V.REJECT, "not confirmed: objective +0.1", (4, 8),
    ),
    "simplify, as fast": (
        rounds(0, 0, 0.02), fresh(0, 0, 0.02), SIMPLIFY, V.KEEP, "loses less than 0.5 %", (4, 6),
    ),
    "simplify, a little slower": (
        rounds(-0.2, -0.2, 0.004), fresh(-0.2, -0.2, 0.01), SIMPLIFY, V.KEEP, "big loses -0.20 %", (3, 6),
    ),
    "simplify, slower the second time": (
        rounds(0, 0, 0.02), fresh(-0.52, -0.52, 0.02), replace(SIMPLIFY, guard=loss(1)), V.REJECT,
        "the candidate is slower", (4, 6),
    ),
    "simplify, budget used up, but faster": (
        rounds(0.4, 0.4, 0.005), fresh(0.4, 0.4, 0.005), USED_UP, V.KEEP, "gain beyond noise", (3, 6),
    ),
    "nothing the second time": (GAIN, fresh(0, 0, 0.2), PLAN, V.REJECT, "not confirmed: objective", (5, 18)),
    "half of it the second time": (GAIN, fresh(0.6, 0.6, 0.2), PLAN, V.KEEP, "gain beyond noise", (5, 14)),
    "line 1: a loss the second time": (GAIN, fresh(-2, -2, 0.02), PLAN, V.REJECT, "big regresses in the confirmation", (5, 6)),
    "line 1: one size loses the second time": (
        GAIN, fresh(3, -0.6, 0.04), PLAN, V.REJECT, "small regresses in the confirmation", (5, 10),
    ),
    "line 2: the mean time": (
        rounds(2, 2, 0.2, mean=-2.7), fresh(2, 2, 0.2, mean=-2.7), PLAN, V.REJECT,
        "the mean time of all iterations loses: -0.67 %", (5, 18),
    ),
    "line 2: the mean time, at once": (
        rounds(2, 2, 0.05, mean=-5), fresh(2, 2, 0.05, mean=-5), PLAN, V.REJECT,
        "the mean time of all iterations loses: -", (4, 6),
    ),
    "a rescuer": (
        rounds(-0.3, 0.6, 0.04), fresh(-0.3, 0.6, 0.04), ONE_RESCUER, V.KEEP, "rescued by size small, small +0.6", (4, 10),
    ),
    "a rescuer, not confirmed": (
        rounds(-0.3, 0.6, 0.04), fresh(-0.3, 0.0, 0.04), ONE_RESCUER, V.REJECT, "not confirmed: small ", (4, 8),
    ),
    "a rescuer with a losing objective": (
        rounds(-0.3, 0.6, 0.04), fresh(-0.5, 0.6, 0.001), replace(ONE_RESCUER, regression=loss(2), guard=loss(2)),
        V.INCONCLUSIVE, "not confirmed: the search saw small +0.6", (4, 70),
    ),
    "a rescuer does not loosen simplify": (
        rounds(-0.2, 0.1, 0.01), fresh(-0.2, 0.1, 0.01), replace(SIMPLIFY, rescuers=("small",)), V.KEEP, "objective", (4, 6),
    ),
    "undecided at the limit": (
        GAIN, fresh(0.3, 0.3, 1.5), PLAN, V.INCONCLUSIVE, "not confirmed: the search saw objective +2.0", (5, 70),
    ),
    "undecided at the limit of an extended plan": (
        GAIN, fresh(0.25, 0.25, 2.6), replace(PLAN, confirm=200), V.INCONCLUSIVE,
        "not confirmed: the search saw objective +2.0", (5, 200),
    ),
    "a guard fails for good": (
        GAIN, fresh(3, -0.45, 0.2, apart=0.8), PLAN, V.INCONCLUSIVE, "but small -0.45 % [", (5, 140),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIRMATIONS)
def test_the_confirmation_ends(name: str) -> None:
    search, again, plan, verdict, words, (n, taken) = CONFIRMATIONS[name]
    assert more(search[:n], [], plan) == MeasureMore(rounds_left=6, session=Session.CONFIRM)
    assert more(search[:n], again[:4], plan) == MeasureMore(rounds_left=2, session=Session.CONFIRM)
    decision = decided([*search, *again], plan)
    procedure = decision.procedure
    assert procedure is not None
    assert (decision.verdict, words in decision.reasons[0]) == (verdict, True), decision
    assert (procedure.search_rounds, procedure.confirm_rounds) == (n, taken)
    assert decision.rounds == tuple(range(MOST, MOST + taken))
    assert decision.intervals == evidence_of(again[:taken], plan, Session.CONFIRM).intervals
    assert procedure.rescued_by == ("small" if name.startswith("a rescuer") and "simplify" not in name else "")


KEPT = {
    "a gain that is still there": (fresh(1.8, 1.8, 0.2), OBJECTIVE, V.KEEP, "gain beyond noise; no size regresses", 6),
    "one that the other change has taken": (fresh(0, 0, 0.2), OBJECTIVE, V.REJECT, "not confirmed: objective", 18),
    "one that the other change has turned round": (fresh(-2, -2, 0.02), OBJECTIVE, V.REJECT, "big regresses in the confirm", 6),
    "undecided": (
        fresh(0.3, 0.3, 1.5), OBJECTIVE, V.INCONCLUSIVE, "not confirmed: objective gained beside an older baseline", 70,
    ),
    "of a rescuer": (fresh(-0.3, 0.6, 0.04), "small", V.KEEP, "rescued by size small, small +0.6", 10),
    "of a rescuer, gone": (fresh(-0.3, 0.0, 0.04), "small", V.REJECT, "not confirmed: small ", 8),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_what_was_kept_beside_an_older_baseline_needs_no_search(name: str) -> None:
    again, kept_by, verdict, words, taken = KEPT[name]
    plan = replace(ONE_RESCUER if kept_by != OBJECTIVE else PLAN, kept_by=kept_by)
    assert decide([], plan) == MeasureMore(rounds_left=6, session=Session.CONFIRM)
    decision = decided(again, plan)
    procedure = decision.procedure
    assert procedure is not None
    assert (decision.verdict, words in decision.reasons[0]) == (verdict, True), decision
    assert (procedure.kept_by, procedure.looks, procedure.search_rounds, procedure.confirm_rounds) == (kept_by, (), 0, taken)
    assert decided([*GAIN, *again], plan) == decision, "rounds of a search would change nothing"


def test_the_looks_are_the_planned_ones_in_pairs() -> None:
    assert CONFIRM.looks == (3, 4, 5, 7, 9, 12, 16, 21, 27, 35, 45, 57, 70, 85, 100)
    taken = [0]
    while (answer := decide([*GAIN[:5], *fresh(0.25, 0.25, 4)[: taken[-1]]], replace(PLAN, confirm=200))) and isinstance(
        answer, MeasureMore
    ):
        taken.append(taken[-1] + answer.rounds_left)
    assert taken[1:] == [2 * look for look in CONFIRM.looks]


def test_only_fresh_rounds_are_in_the_estimate() -> None:
    decision = decided([*rounds(9, 9, 0.1), *fresh(1, 1, 0.1)], PLAN)
    assert decision.intervals[OBJECTIVE].mean == pytest.approx(0.01 + 0.001 / 3)
    assert decision.verdict is V.KEEP


def test_the_values_are_means_of_neighbouring_rounds() -> None:
    """Rounds of +3 and -1 % by turns: as pairs they are all of +1 %."""
    by_turns = rounds(1, 1, 2, which=Session.CONFIRM)
    turned = [replace(each, effect=dict.fromkeys(each.effect, 0.01 + 0.02 * (-1) ** i)) for i, each in enumerate(by_turns)]
    decision = decided([*GAIN, *turned], replace(PLAN, guard=loss(5)))
    assert (decision.verdict, decision.intervals[OBJECTIVE].n) == (V.KEEP, 3)
    assert decision.intervals[OBJECTIVE].mean == pytest.approx(0.01)
    assert decision.intervals[OBJECTIVE].sd == pytest.approx(0, abs=1e-12)


# ------------------------------------------------------------------ the mean time


def mean_off(mean: float, plan: Plan = PLAN) -> tuple[Verdict, int]:
    decision = decided([*rounds(2, 2, 0.2, mean=mean), *fresh(2, 2, 0.2, mean=mean)], plan)
    assert decision.procedure is not None
    return decision.verdict, decision.procedure.confirm_rounds


def test_a_keep_needs_the_mean_time_above_the_guard() -> None:
    assert mean_off(-2.2) == (V.KEEP, 6)
    assert mean_off(-2.48) == (V.INCONCLUSIVE, 140)
    assert mean_off(-2.7) == (V.REJECT, 18)
    assert mean_off(-2.7, replace(PLAN, guard=loss(1))) == (V.KEEP, 6)


def test_the_mean_time_counts_in_the_rounds_of_the_search_too() -> None:
    tail = decided([*rounds(2, 2, 0.05, mean=-6), *fresh(2, 2, 0.05, mean=0)], PLAN)
    assert tail.procedure is not None
    assert (tail.verdict, tail.procedure.confirm_rounds > 6) == (V.KEEP, True)
    assert decided([*rounds(2, 2, 0.05), *fresh(2, 2, 0.05)], PLAN).procedure != tail.procedure


def test_what_is_doubtful_is_said() -> None:
    decision = decided([*rounds(2, 2, 0.2, mean=-2.48), *fresh(2, 2, 0.2, mean=-2.48)], PLAN)
    assert (
        "but the effect on the mean time of all iterations, -0.48 % and with 95 % confidence above -0.5" in decision.reasons[0]
    )
    assert "may lie below -0.5 %" in decision.reasons[0]


def test_a_mean_time_reject_is_one_sided_at_99_95_percent() -> None:
    """sd .2 % over 16 rounds: upper bound mean + 4.0728 x .2 / 4 = mean + .204 %."""
    made = rounds(0, 0, 0.2 * (15 / 16) ** 0.5, 16)
    seen = mean_time(made, PLAN)
    assert seen.n == 16
    assert seen.sd == pytest.approx(0.002)
    assert seen.high - seen.mean == pytest.approx(t95(16) * 0.002 / 4)
    assert seen.mean - seen.low == pytest.approx(t95(16) * 0.002 / 4)
    for mean, sure in ((-0.70, False), (-0.71, True)):
        off = [replace(each, mean_effect={size: x + mean / 100 for size, x in each.effect.items()}) for each in made]
        assert bool(loses_mean_time(off, PLAN)) == sure
        assert (mean / 100 + t999(16) * 0.002 / 4 < -0.005) == sure


def test_the_mean_time_is_weighted_as_the_objective() -> None:
    made = [replace(each, mean_effect={"big": 0.01, "small": -0.02}) for each in rounds(0, 0, 0, 4)]
    assert mean_time(made, PLAN).mean == pytest.approx(0.6 * 0.01 - 0.4 * 0.02)


def test_a_simplification_is_held_to_the_mean_time_too() -> None:
    assert mean_off(-2.7, SIMPLIFY)[0] is V.REJECT


# ------------------------------------------------------------------ launches


def confirmed(search: Sequence[RoundEffect], again: Sequence[RoundEffect], plan: Plan) -> tuple[Verdict, int]:
    decision = decided([*search, *again], plan)
    assert decision.procedure is not None
    return decision.verdict, decision.procedure.search_rounds + decision.procedure.confirm_rounds


@pytest.mark.parametrize(
    ("plan", "gain", "needed"),
    [
        (LAUNCH, 0.02, 5.298 * 0.15 / 0.02),
        (LAUNCH, 0.005, 5.298 * 0.15 / 0.005),
        (LAUNCH, 0.0029, 270),
        (LAUNCH, 0.0001, 270),
        (replace(LAUNCH, mode=Mode.GAIN_COSTLY), 0.012, 5.298 * 0.15 / 0.01),
        (replace(LAUNCH, mode=Mode.SIMPLIFY), 0.0, 5.298 * 0.15 / 0.005),
        (replace(LAUNCH, slow_launch=0.3), 0.02, 5.298 * 0.3 / 0.02),
        (PLAN, 0.001, 0),
    ],
)
def test_a_keep_has_seen_so_many_launches_that_a_rare_slow_one_costs_less_than_the_gain(
    plan: Plan, gain: float, needed: float
) -> None:
    assert launches_needed(plan, gain - plan.floor) == pytest.approx(needed, abs=1)


def test_style_launch_waits_for_the_launches_and_style_fine_does_not() -> None:
    """A gain of 2 % needs 40 launches of the candidate, two a round: 20 rounds with the five of the search."""
    again = fresh(2, 2, 0.2)
    needed = math.log(200) * 0.15 / 0.02 / 2
    verdict, taken = confirmed(GAIN, again, LAUNCH)
    assert verdict is V.KEEP
    assert taken == 5 + 18 >= needed > 5 + 14
    assert confirmed(GAIN, again, PLAN) == (V.KEEP, 5 + 6)
    assert confirmed(GAIN, again, replace(LAUNCH, launches=1)) == (V.KEEP, 5 + 42)
    assert confirmed(GAIN, again, replace(LAUNCH, slow_launch=0.3)) == (V.KEEP, 5 + 42)


def test_a_small_gain_waits_for_at_most_270_launches_beyond_the_usual_limit() -> None:
    small = rounds(0.2, 0.2, 0.002), fresh(0.2, 0.2, 0.002)
    assert confirmed(*small, LAUNCH) == (V.KEEP, 3 + 140)  # 286 launches; 114 fresh rounds would make 234
    assert confirmed(*small, PLAN) == (V.KEEP, 3 + 6)


def test_the_wait_ends_where_the_gain_shows_no_more() -> None:
    """It shows for 70 rounds, and then it is gone: no KEEP, and no more than a look beyond."""
    again = [*fresh(0.2, 0.2, 0.02)[:74], *rounds(-2, -2, 0.02, which=Session.CONFIRM)[74:]]
    verdict, taken = confirmed(rounds(0.2, 0.2, 0.002), again, LAUNCH)
    assert verdict is not V.KEEP
    assert taken == 3 + 90


def test_the_launches_of_a_rescuer_are_counted_from_its_own_floor() -> None:
    """Simplify, a rescuer of +2 %: 40 launches for a gain above zero; above -.5 % they would be 32."""
    plan = replace(LAUNCH, mode=Mode.SIMPLIFY, rescuers=("small",), guard=loss(5), regression=loss(5))
    search = rounds(-1.5, 2, 0.05, apart=0.4)  # the objective's interval is narrow ...
    search = [replace(each, effect={**each.effect, "big": each.effect["big"] + 0.01 * (-1) ** each.round}) for each in search]
    again = fresh(-1.3, 2, 0.02)
    decision = decided([*search, *again], plan)
    assert decision.procedure is not None
    assert (decision.verdict, decision.procedure.rescued_by) == (V.KEEP, "small")
    seen = 2 * (decision.procedure.search_rounds + decision.procedure.confirm_rounds)
    assert seen >= math.log(200) * 0.15 / 0.02


# ------------------------------------------------------------------ fading


def test_a_gain_that_fades_is_not_kept() -> None:
    """From +2 % to +.5 %, half of it within eight rounds."""
    search = rounds(0.5, 0.5, 0.05, drift=lambda i: 1.5 * math.exp(-i / 12))
    again = rounds(0.5, 0.5, 0.05, which=Session.CONFIRM, drift=lambda i: 1.5 * math.exp(-(i + 5) / 12))
    decision = decided([*search, *again], PLAN)
    assert decision.verdict is V.INCONCLUSIVE
    assert decision.reasons[0].endswith("but the gain fades: smaller in the second half of all rounds than in the first")
    assert decision.procedure is not None
    assert decision.procedure.confirm_rounds == 140
    assert decision.intervals[OBJECTIVE].low > 0


def test_a_gain_that_grows_is_kept() -> None:
    again = rounds(2.1, 2.1, 0.05, which=Session.CONFIRM, drift=lambda i: 0.013 * i)
    assert confirmed(rounds(2, 2, 0.05), again, PLAN) == (V.KEEP, 4 + 6)


def test_fading_is_a_two_sample_t_test_one_sided_at_99_5_percent() -> None:
    """Eight against eight of sd .1: t = difference / (.1 sqrt(2 / 8)) against 2.9768 (14 degrees of freedom)."""
    noise = [0.1 * (7 / 8) ** 0.5 * (-1) ** i for i in range(8)]
    for lost, fading in ((0.145, False), (0.152, True), (-0.5, False)):
        assert fades([*noise, *(x - lost for x in noise)]) == fading
    assert not fades([5.0, 4.0, 0.0, 1.0])  # fewer than six say nothing


def test_it_is_the_gain_of_the_rescuer_that_must_last() -> None:
    """The objective is zero throughout; the rescuer's +1.2 % of the search are +.8 % in the confirmation."""
    search = rounds(-0.8, 1.2, 0.1)
    plan = replace(ONE_RESCUER, guard=loss(2), regression=loss(2))
    assert confirmed(search, fresh(-0.8, 1.2, 0.1), plan) == (V.KEEP, 5 + 6)
    assert confirmed(search, fresh(-0.53, 0.8, 0.1), plan)[1] > 5 + 6


# ------------------------------------------------------------------ guards


def test_every_size_holds_its_guard_by_the_interval_of_the_confirmation() -> None:
    """small -.3 % with sd .2 of pairs: its interval is above -.5 % from 12 pairs on, 3.18 x .2 / sqrt(12) = .19."""
    again = fresh(3, -0.29, 0.0, apart=0.13)
    verdict, taken = confirmed(GAIN, again, PLAN)
    assert (verdict, taken) == (V.KEEP, 5 + 24)
    for pairs in CONFIRM.until(16):
        low = evidence_of(again[: 2 * pairs], PLAN, Session.CONFIRM).sizes["small"].low
        assert (low > -0.005) == (pairs >= 12)


def test_a_rescuer_that_the_search_did_not_find_keeps_no_confirmation_open() -> None:
    """The objective is surely not worth it; that small gains can't keep the patch any more."""
    plan = replace(ONE_RESCUER, guard=loss(2), regression=loss(2))
    decision = decided([*GAIN, *fresh(-0.55, 0.6, 0.05)], plan)
    assert (decision.verdict, decision.reasons[0].startswith("not confirmed: objective -0.")) == (V.REJECT, True), decision
