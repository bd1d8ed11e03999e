"""Rule v0: a fixed number of rounds and a 95 % interval. It decides nothing any more.

Records without a procedure were decided by it; `expctl replay` checks them with it, so not a digit here may change.
"""

from collections.abc import Mapping, Sequence

from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.verdict.evidence import OBJECTIVE, describe
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect
from expctl.domain.verdict.sequential_test import Decision, MeasureMore
from expctl.domain.verdict.statistics import Interval, percent, rounds_to_resolve, t_interval


def decide_v0(rounds: Sequence[RoundEffect], plan: Plan) -> MeasureMore | Decision:
    """Decide after exactly `plan.rounds` rounds."""
    if len(rounds) < plan.rounds:
        return MeasureMore(rounds_left=plan.rounds - len(rounds))
    intervals = _intervals(rounds[: plan.rounds], plan)
    verdict, reasons = _judge(intervals, plan)
    return Decision(
        verdict=verdict,
        reasons=reasons,
        intervals=intervals,
        rounds=tuple(each.round for each in rounds[: plan.rounds]),
    )


def _intervals(rounds: Sequence[RoundEffect], plan: Plan) -> dict[str, Interval]:
    sizes = {size: t_interval([effect.effect[size] for effect in rounds]) for size in plan.weights}
    objective = t_interval([sum(w * effect.effect[size] for size, w in plan.weights.items()) for effect in rounds])
    return {OBJECTIVE: objective, **sizes}


def _judge(intervals: Mapping[str, Interval], plan: Plan) -> tuple[Verdict, tuple[str, ...]]:
    """The first line that holds decides: regression, keep, futile, undecided."""
    objective = intervals[OBJECTIVE]
    sizes = {size: intervals[size] for size in plan.weights}
    tolerance = plan.simplify if plan.mode is Mode.SIMPLIFY else plan.regression
    slower = [size for size, it in sizes.items() if it.high < 0 and it.mean < -tolerance]
    if slower:
        return Verdict.REJECT, tuple(f"{size} regresses: {describe(sizes[size])}" for size in slower)
    floor, ceiling = (-plan.simplify, 0.0) if plan.mode is Mode.SIMPLIFY else (0.0, plan.worthwhile)
    unguarded = [size for size, it in sizes.items() if it.low <= -plan.guard]
    if objective.low > floor and not unguarded:
        gain = "gain beyond noise" if plan.mode is Mode.GAIN else f"loses less than {100 * plan.simplify:.1f} %"
        return Verdict.KEEP, (f"objective {describe(objective)}: {gain}; no size regresses",)
    if objective.high < ceiling:
        wanted = f"a gain of {100 * plan.worthwhile:.1f} %" if plan.mode is Mode.GAIN else "no loss"
        return Verdict.REJECT, (f"objective {describe(objective)}: {wanted} is ruled out",)
    return Verdict.INCONCLUSIVE, _price(objective, sizes, unguarded, plan, floor)


def _price(
    objective: Interval, sizes: Mapping[str, Interval], unguarded: Sequence[str], plan: Plan, floor: float
) -> tuple[str, ...]:
    """Why it is undecided, and about how many rounds would decide."""
    reasons: list[str] = []
    if objective.low <= floor:
        more = rounds_to_resolve(objective.sd, max(abs(objective.mean - floor), plan.worthwhile / 2))
        reasons.append(
            f"objective {describe(objective)} reaches below {percent(floor):+.1f} %: about {more} rounds would decide"
        )
    for size in unguarded:
        more = rounds_to_resolve(sizes[size].sd, max(sizes[size].mean + plan.guard, plan.guard / 2))
        reasons.append(
            f"{size} {describe(sizes[size])} may fall below {-100 * plan.guard:.1f} %: about {more} rounds would decide"
        )
    return tuple(reasons)
