"""Decides KEEP, REJECT or INCONCLUSIVE from the effects of rounds and a plan: a pure function.

A group-sequential search with interim analyses (looks) at planned numbers of rounds is followed by a confirmation with fresh
processes. A run calls `decide` after every round; between looks, and after a decision, more rounds change nothing.
"""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.experiment.record import Procedure
from expctl.domain.protocol.boundaries import CONFIRM_LEAST, VERSION, looks_until
from expctl.domain.verdict.cost_to_decide import price_of
from expctl.domain.verdict.evidence import OBJECTIVE, Evidence, describe, evidence_of
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.statistics import Interval

# A confirmation is longer than its search by half, so that it seldom loses what the search rightly found, and is judged on
# means of neighbouring rounds, so that rounds which remember each other do not pass for independent ones. docs/METHODOLOGY.md
# has the figures; benchmarks/verdict/simulate.py prints them.
CONFIRM_MERGES = 2


class MeasureMore(Struct, frozen=True, kw_only=True):
    """No decision yet: `rounds_left` more rounds of `session` are needed before the next planned evaluation."""

    rounds_left: int
    session: Session = Session.SEARCH


class Decision(Struct, frozen=True, kw_only=True):
    """A verdict with its reasons, and the intervals of the objective and of each size.

    `rounds` are the numbers of the rounds that the intervals are computed from. Both are empty where nothing was timed.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    rounds: tuple[int, ...] = ()
    procedure: Procedure | None = None


class _Promising(Struct, frozen=True, kw_only=True):
    """The search found a gain, so a confirmation starts; `rescuer` is the size that gained, empty for the objective."""

    rescuer: str


def decide(rounds: Sequence[RoundEffect], plan: Plan) -> MeasureMore | Decision:
    """Return the verdict of the first planned interim analysis that reaches one, or how many rounds are still needed."""
    search = [each for each in rounds if each.session is Session.SEARCH]
    looks = looks_until(plan.rounds)
    for number, n in enumerate(looks, start=1):
        if len(search) < n:
            return MeasureMore(rounds_left=n - len(search))
        seen = evidence_of(search[:n], plan)
        found = _look(seen, search[:n], last=n == looks[-1])
        if isinstance(found, _Promising):
            return _confirm(rounds, plan, seen, found, looks[:number])
        if found is not None:
            verdict, reasons = found
            return _decision(verdict, reasons, seen, search[:n], looks[:number])
    raise ValueError(f"a search of at most {plan.rounds} rounds has no look")


def _look(seen: Evidence, rounds: Sequence[RoundEffect], *, last: bool) -> _Promising | tuple[Verdict, tuple[str, ...]] | None:
    """Return the verdict of one interim analysis, or that a confirmation must follow; None to measure on."""
    slower = seen.regressing()
    if slower:
        return Verdict.REJECT, tuple(f"{size} regresses: {describe(seen.sizes[size])}" for size in slower)
    if not seen.unguarded() and seen.gains():
        return _Promising(rescuer="")
    if not seen.unguarded() and seen.rescuer():
        return _Promising(rescuer=seen.rescuer())
    if seen.futile():
        return Verdict.REJECT, (f"objective {describe(seen.objective)}: {_wanted(seen.plan)} is ruled out",)
    return (Verdict.INCONCLUSIVE, price_of(seen, rounds)) if last else None


def confirm_rounds(search_rounds: int) -> int:
    """Return how many rounds confirm a search of `search_rounds` rounds: 1.5 times as many, an even number, at least 18."""
    return max(CONFIRM_LEAST, CONFIRM_MERGES * math.ceil(1.5 * search_rounds / CONFIRM_MERGES))


def _confirm(
    rounds: Sequence[RoundEffect], plan: Plan, before: Evidence, promising: _Promising, looks: tuple[int, ...]
) -> MeasureMore | Decision:
    """Decide by the rounds of the confirmation alone, because the estimate that stopped the search is biased upward."""
    confirm = [each for each in rounds if each.session is Session.CONFIRM]
    n = confirm_rounds(before.n)
    if len(confirm) < n:
        return MeasureMore(rounds_left=n - len(confirm), session=Session.CONFIRM)
    seen, rescuer = evidence_of(confirm[:n], plan, CONFIRM_MERGES), promising.rescuer
    name, found = (rescuer, seen.sizes[rescuer]) if rescuer else (OBJECTIVE, seen.objective)
    slower = seen.regressing()
    verdict: Verdict
    reasons: tuple[str, ...]
    if seen.confirms(rescuer) and not seen.unguarded():
        how = f"rescued by size {rescuer}, " if rescuer else ""
        verdict, reasons = Verdict.KEEP, (f"{how}{name} {describe(found)}: {_shown(plan, rescuer)}; no size regresses",)
    elif slower:
        verdict = Verdict.REJECT
        reasons = tuple(f"{size} regresses in the confirmation: {describe(seen.sizes[size])}" for size in slower)
    else:
        was = describe(before.sizes[rescuer] if rescuer else before.objective)
        verdict = Verdict.INCONCLUSIVE
        reasons = (f"not confirmed: the search saw {name} {was}, the confirmation {describe(found)}", *seen.unguarded_words())
    return _decision(verdict, reasons, seen, confirm[:n], looks, confirmed=n, rescuer=rescuer)


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
        procedure=procedure_of(seen.plan, looks, search_rounds=looks[-1], confirm_rounds=confirmed, rescued_by=rescuer),
    )


def procedure_of(
    plan: Plan, looks: tuple[int, ...], *, search_rounds: int, confirm_rounds: int, rescued_by: str = ""
) -> Procedure:
    """Return what a record keeps of a decision under `plan`: the interim analyses taken and the rounds of each part."""
    return Procedure(
        boundaries=VERSION,
        mode=plan.mode,
        looks=looks,
        search_rounds=search_rounds,
        confirm_rounds=confirm_rounds,
        rescued_by=rescued_by,
        simplify_used_percent=round(100 * plan.simplify_used, 4),
        calibrated=plan.calibrated,
        words=plan.words,
    )


def _wanted(plan: Plan) -> str:
    return "no loss" if plan.mode is Mode.SIMPLIFY else f"a gain of {100 * plan.ceiling:.1f} %"


def _shown(plan: Plan, rescuer: str) -> str:
    floor = max(0.0, plan.floor) if rescuer else plan.floor
    if floor < 0:
        return f"loses less than {-100 * floor:.2g} %"
    return f"gains more than {100 * floor:.2g} %" if floor > 0 else "gain beyond noise"
