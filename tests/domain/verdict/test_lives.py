"""What holds for every plan and every life of a run: `decide` does what its description says, and nothing besides."""

from collections import Counter

from hypothesis import assume, given
from hypothesis import strategies as st

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.protocol.boundaries import CONFIRM, SEARCH
from expctl.domain.verdict.samples import Session
from expctl.domain.verdict.sequential_test import Decision, MeasureMore, decide
from tests.domain.verdict.made_rounds import LIVES, Life, decided, lives
from tests.domain.verdict.reference import OBJECTIVE, Outcome, Unclear, expected


def outcome(decision: Decision) -> tuple[Verdict, int, int, str]:
    procedure = decision.procedure
    assert procedure is not None
    return decision.verdict, procedure.search_rounds, procedure.confirm_rounds, procedure.rescued_by


@lives(150)
@given(LIVES)
def test_every_life_ends_as_described(life: Life) -> None:
    try:
        wanted = expected(life.search, life.confirm, life.plan)
    except Unclear:
        assume(False)
    found = decided(life.rounds, life.plan)
    assert outcome(found) == (wanted.verdict, wanted.search, wanted.confirm, wanted.rescuer), (wanted.why, found.reasons)
    tested = wanted.rescuer or OBJECTIVE
    slower = found.intervals[tested].high < 0
    words = {
        "regression": "regresses",
        "ruled out": "the candidate is slower" if slower else "is ruled out",
        "mean time": "the mean time of all iterations loses",
    }
    assert words.get(wanted.why, "") in found.reasons[0]
    if wanted.why == "ruled out":
        assert found.reasons[0].removeprefix("not confirmed: ").startswith(f"{tested} ")


@lives(60)
@given(LIVES)
def test_the_interval_of_a_keep_lies_above_its_floor_and_the_sizes_above_their_guard(life: Life) -> None:
    found = decided(life.rounds, life.plan)
    _, _, confirm_rounds, rescuer = outcome(found)
    if found.verdict is Verdict.KEEP:
        name = rescuer or OBJECTIVE
        assert found.intervals[name].low > (max(0.0, life.plan.floor) if rescuer else life.plan.floor)
        assert found.intervals[OBJECTIVE].high >= 0 or not rescuer
        assert min(found.intervals[size].low for size in life.plan.weights) > -life.plan.guard
        assert {each.rounds for each in found.intervals.values()} == {confirm_rounds}


@lives(60)
@given(LIVES)
def test_a_gain_is_ruled_out_only_by_an_interval_below_the_ceiling(life: Life) -> None:
    found = decided(life.rounds, life.plan)
    *_, rescuer = outcome(found)
    high = found.intervals[rescuer or OBJECTIVE].high
    if "is ruled out" in found.reasons[0]:
        assert found.verdict is Verdict.REJECT
        assert 0 <= high < life.plan.ceiling
    else:
        assert not any("ruled out" in reason for reason in found.reasons)
    if "the candidate is slower" in found.reasons[0]:
        assert found.verdict is Verdict.REJECT
        assert high < 0
    else:
        assert not any("is slower" in reason for reason in found.reasons)


@lives(60)
@given(LIVES, st.integers(0, 200), st.integers(0, 200))
def test_rounds_after_the_decision_change_nothing(life: Life, tail: int, fresh_tail: int) -> None:
    found = decided(life.rounds, life.plan)
    _, search, confirm, _ = outcome(found)
    assert decide([*life.search[: search + tail], *life.confirm[: confirm + fresh_tail]], life.plan) == found


@lives(60)
@given(LIVES, st.integers(0, 200), st.integers(0, 200))
def test_between_looks_the_answer_is_to_go_on_to_the_next_look(life: Life, n: int, fresh: int) -> None:
    plan = life.plan
    _, search, confirm, _ = outcome(decided(life.rounds, plan))
    n = min(n, search - 1)
    coming = min(look for look in SEARCH.looks if look > n)
    assert decide(life.search[:n], plan) == MeasureMore(rounds_left=coming - n)
    if confirm:
        fresh = min(fresh, confirm - 1)
        coming = 2 * min(look for look in CONFIRM.looks if 2 * look > fresh)
        answer = decide([*life.search, *life.confirm[:fresh]], plan)
        assert answer == MeasureMore(rounds_left=coming - fresh, session=Session.CONFIRM)


@lives(60)
@given(LIVES)
def test_a_decision_names_the_rounds_and_looks_that_it_rests_on(life: Life) -> None:
    found = decided(life.rounds, life.plan)
    _, search, confirm, _ = outcome(found)
    used = life.confirm[:confirm] if confirm else life.search[:search]
    assert found.rounds == tuple(each.round for each in used)
    assert found.procedure is not None
    assert found.procedure.looks == SEARCH.until(search)
    assert (found.procedure.boundaries, found.procedure.mode, found.procedure.words) == ("2", life.plan.mode, 0)
    assert search <= life.plan.rounds
    assert confirm <= max(140, life.plan.confirm)


def test_the_lives_come_to_every_end() -> None:
    """Else the properties above would hold for nothing."""
    seen: Counter[tuple[Verdict, str, bool, bool]] = Counter()

    def note(life: Life) -> None:
        try:
            end: Outcome = expected(life.search, life.confirm, life.plan)
        except Unclear:
            return
        seen[end.verdict, end.why, bool(end.confirm), bool(end.rescuer)] += 1

    lives(300)(given(LIVES)(note))()
    assert len(seen) >= 8, seen
