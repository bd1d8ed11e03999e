"""Decides a verdict from rounds and a plan: a pure function.

Two sequential tests with planned looks follow one another: a search, and its confirmation in a new session. Both judge by the
same kind of interval. A run calls `decide` after every round and does what it returns; a round measured between two looks, or
after the decision, doesn't change the result.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import Procedure
from expctl.domain.protocol.boundaries import CONFIRM, CONFIRM_LAUNCHES_ROUNDS, CONFIRM_MERGES, SEARCH, VERSION
from expctl.domain.verdict.cost_to_decide import price_of
from expctl.domain.verdict.evidence import OBJECTIVE, Evidence, evidence_of, limit_text
from expctl.domain.verdict.lasting_gain import doubts, loses_mean_time
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.statistics import Interval


class MeasureMore(Struct, frozen=True, kw_only=True):
    """The answer that `rounds_left` more rounds of `session` must be measured before the next look. With `respawn` above 1, the
    rounds of one pair of workers count as one.
    """

    rounds_left: int
    session: Session = Session.SEARCH


class Decision(Struct, frozen=True, kw_only=True):
    """The verdict with its reasons, and the intervals of the objective and of each size. `rounds` are the indices of the rounds
    that the intervals were computed from. A verdict without timing has neither.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    rounds: tuple[int, ...] = ()
    procedure: Procedure | None = None


class _Promising(Struct, frozen=True, kw_only=True):
    """What is to be confirmed: `rescuer` is the size that gained, empty for the objective. `before` says in words what was seen
    of it; `n` rounds of search at `looks` have shown it, none if it was kept beside an older baseline.
    """

    before: str
    rescuer: str
    n: int = 0
    looks: tuple[int, ...] = ()


def decide(rounds: Sequence[RoundEffect], plan: Plan) -> MeasureMore | Decision:
    """Return the verdict of the first look that gives one, or else how many rounds are missing until the next look."""
    search, confirm = ([each for each in rounds if each.session is session] for session in Session)
    found = _kept(plan) if plan.kept_by else _search(search, plan)
    return _confirm(search[: found.n], confirm, plan, found) if isinstance(found, _Promising) else found


def _kept(plan: Plan) -> _Promising:
    rescuer = "" if plan.kept_by == OBJECTIVE else plan.kept_by
    return _Promising(before=f"{plan.kept_by} gained beside an older baseline", rescuer=rescuer)


def _search(rounds: Sequence[RoundEffect], plan: Plan) -> MeasureMore | Decision | _Promising:
    looks = SEARCH.until(plan.rounds)
    for number, n in enumerate(looks, start=1):
        if len(rounds) < n:
            return MeasureMore(rounds_left=n - len(rounds))
        seen, taken = evidence_of(rounds[:n], plan, Session.SEARCH), looks[:number]
        if slower := seen.regressing():
            return _decision(Verdict.REJECT, _regress(seen, slower), seen, rounds[:n], taken)
        rescuer = "" if seen.gains() else seen.rescuer()
        if not seen.unguarded() and (rescuer or seen.gains()):
            name = rescuer or OBJECTIVE
            return _Promising(before=f"the search saw {name} {seen.describe(name)}", rescuer=rescuer, n=n, looks=taken)
        if seen.futile(OBJECTIVE, *plan.rescuers):
            return _decision(Verdict.REJECT, (_ruled_out(seen, OBJECTIVE),), seen, rounds[:n], taken)
    if not looks:
        raise ValueError(f"a search of at most {plan.rounds} rounds has no look")
    return _decision(Verdict.INCONCLUSIVE, price_of(seen, rounds[:n], Session.SEARCH, OBJECTIVE), seen, rounds[:n], taken)


def _confirm(
    before: Sequence[RoundEffect], rounds: Sequence[RoundEffect], plan: Plan, promising: _Promising
) -> MeasureMore | Decision:
    """Decide by the intervals of the confirmation alone, because the estimate that ended the search is biased upward. If they
    show a gain but another condition of a KEEP fails (lasting_gain.py), more rounds are measured.
    """
    name, looks = promising.rescuer or OBJECTIVE, CONFIRM.until(max(plan.confirm, CONFIRM_LAUNCHES_ROUNDS) // CONFIRM_MERGES)
    for pairs in looks:
        n = CONFIRM_MERGES * pairs
        if len(rounds) < n:
            return MeasureMore(rounds_left=n - len(rounds), session=Session.CONFIRM)
        seen = evidence_of(rounds[:n], plan, Session.CONFIRM)
        gains = seen.gains(promising.rescuer)
        doubtful = _doubts(seen, before, rounds[:n], promising.rescuer) if gains else ()
        ended = _look_again(seen, promising, [*before, *rounds[:n]], kept=gains and not doubtful)
        if ended is None and (pairs == looks[-1] or (n >= plan.confirm and not gains)):
            was = f"not confirmed: {promising.before}"
            why = (f"{name} {seen.describe(name)}, but {each}" for each in doubtful)
            ended = Verdict.INCONCLUSIVE, tuple(why) or (was, *price_of(seen, rounds[:n], Session.CONFIRM, name))
        if ended is not None:
            verdict, reasons = ended
            return _decision(verdict, reasons, seen, rounds[:n], promising.looks, confirmed=n, rescuer=promising.rescuer)
    raise ValueError("a confirmation has no look")


def _look_again(
    seen: Evidence, promising: _Promising, rounds: Sequence[RoundEffect], *, kept: bool
) -> tuple[Verdict, tuple[str, ...]] | None:
    """Return the verdict and its reasons after one look of the confirmation; None to measure on. `rounds` are those of search
    and confirmation; `kept` is True if the gain is confirmed and nothing speaks against it.
    """
    name = promising.rescuer or OBJECTIVE
    if slower := seen.regressing():
        return Verdict.REJECT, _regress(seen, slower, " in the confirmation")
    if lost := loses_mean_time(rounds, seen.plan):
        return Verdict.REJECT, (lost,)
    if kept:
        how = f"rescued by size {name}, " if promising.rescuer else ""
        return Verdict.KEEP, (f"{how}{name} {seen.describe(name)}: {_shown(seen.plan, promising.rescuer)}; {_losses(seen)}",)
    if not seen.gains(promising.rescuer) and seen.futile(name):
        return Verdict.REJECT, (f"not confirmed: {_ruled_out(seen, name)}",)
    return None


def _doubts(seen: Evidence, before: Sequence[RoundEffect], rounds: Sequence[RoundEffect], rescuer: str) -> tuple[str, ...]:
    """Return the reasons not to keep a confirmed gain: sizes whose interval reaches below the guard, and those of `doubts`.
    `rounds` are those of the confirmation, `before` those of the search.
    """
    unsafe = (size for size, it in seen.sizes.items() if it.low <= -seen.plan.guard)
    guards = (f"{size} {seen.describe(size)} may fall below {limit_text(-seen.plan.guard)}" for size in unsafe)
    return (*guards, *doubts(before, rounds, seen.plan, rescuer, seen.intervals[rescuer or OBJECTIVE].mean))


def _regress(seen: Evidence, sizes: Sequence[str], where: str = "") -> tuple[str, ...]:
    return tuple(f"{size} regresses{where}: {seen.describe(size)}" for size in sizes)


def _ruled_out(seen: Evidence, name: str) -> str:
    ruled_out = f"a gain of {limit_text(seen.plan.ceiling).lstrip('+')} is ruled out with 95 % confidence"
    what = "the candidate is slower" if seen.intervals[name].high < 0 else ruled_out
    return f"{name} {seen.describe(name)}: {what}"


def _losses(seen: Evidence) -> str:
    lost = (f"{size} loses {seen.describe(size)}, inside its guard" for size in seen.losing())
    return "; ".join(lost) or "no size regresses"


def _decision(
    verdict: Verdict,
    reasons: tuple[str, ...],
    seen: Evidence,
    rounds: Sequence[RoundEffect],
    looks: tuple[int, ...],
    confirmed: int = 0,
    rescuer: str = "",
) -> Decision:
    return Decision(
        verdict=verdict,
        reasons=reasons,
        intervals=seen.intervals,
        rounds=tuple(each.round for each in rounds),
        procedure=procedure_of(
            seen.plan, looks, search_rounds=looks[-1] if looks else 0, confirm_rounds=confirmed, rescued_by=rescuer
        ),
    )


def procedure_of(
    plan: Plan, looks: tuple[int, ...], *, search_rounds: int, confirm_rounds: int, rescued_by: str = ""
) -> Procedure:
    """Return the part of a record that says how it was decided: mode, looks, and the number of rounds of each session."""
    return Procedure(
        boundaries=VERSION,
        mode=plan.mode,
        looks=looks,
        search_rounds=search_rounds,
        confirm_rounds=confirm_rounds,
        rescued_by=rescued_by,
        simplify_used_percent=round(100 * plan.simplify_used, 4),
        calibrated=plan.calibrated,
        kept_by=plan.kept_by,
    )


def _shown(plan: Plan, rescuer: str) -> str:
    floor = plan.floor_of(rescuer)
    if floor < 0:
        return f"loses less than {limit_text(floor).lstrip('-')}"
    return f"gains more than {limit_text(floor).lstrip('+')}" if floor > 0 else "gain beyond noise"
