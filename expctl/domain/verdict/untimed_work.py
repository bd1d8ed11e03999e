"""Finds work that a build does outside the interval that its own clock times, such as work left running after a launch.

The harness times each request from outside too. The difference is about equal for both sides unless one hides work; what the
candidate has beyond the baseline is added to its times before a gain counts. docs/METHODOLOGY.md, "Two clocks".
"""

import statistics
from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.verdict.evidence import OBJECTIVE, describe
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Sample, Side, round_effects
from expctl.domain.verdict.sequential_test import Decision
from expctl.domain.verdict.statistics import Interval, lower_bound, t95, t999, t_interval


def charge_untimed_work(decision: Decision, samples: Sequence[Sample], plan: Plan) -> Decision:
    """Return `decision`, but a REJECT in place of a KEEP whose gain vanishes once untimed work is added to the times."""
    if decision.verdict is not Verdict.KEEP:
        return decision
    rescuer = decision.procedure.rescued_by if decision.procedure else ""
    floors = dict.fromkeys(plan.weights, -plan.guard) | {rescuer or OBJECTIVE: max(0.0, plan.floor) if rescuer else plan.floor}
    hidden = _hidden(decision, samples, plan)
    for name, floor in floors.items():
        if name in hidden and lower_bound(hidden[name].seen, t95(hidden[name].seen.n)) <= floor:
            told, seen = describe(decision.intervals[name]), describe(hidden[name].seen)
            reason = f"hidden time: {name} {told} by the candidate's own clock, {seen} as seen from outside of its process"
            return replace(decision, verdict=Verdict.REJECT, reasons=(reason,))
    return decision


class _Effect(Struct, frozen=True, kw_only=True):
    """An effect by the harness's clock (`seen`), and by how much the effect by the candidate's own clock exceeds it (`gap`)."""

    seen: Interval
    gap: Interval


def _hidden(decision: Decision, samples: Sequence[Sample], plan: Plan) -> dict[str, _Effect]:
    """Return the effects of the sizes, and of the objective, on which the two clocks differ significantly (t test, 99.9 %)."""
    used = [sample for sample in samples if sample.round in set(decision.rounds) and not sample.taints]
    if not used or not all(sample.hidden_ns for sample in used):
        return {}
    told, seen = (_by_name(round_effects(each), plan) for each in (used, _charged(used)))
    merged = decision.intervals[OBJECTIVE].merged
    effects = {
        name: _Effect(
            seen=t_interval(seen[name], merged),
            gap=t_interval([t - s for t, s in zip(told[name], seen[name], strict=True)], merged),
        )
        for name in told
    }
    return {name: each for name, each in effects.items() if lower_bound(each.gap, t999(each.gap.n)) > 0}


def _by_name(rounds: Sequence[RoundEffect], plan: Plan) -> dict[str, list[float]]:
    by_name = {size: [each.effect[size] for each in rounds] for size in plan.weights}
    return by_name | {OBJECTIVE: [each.objective(plan.weights) for each in rounds]}


def _charged(samples: Sequence[Sample]) -> list[Sample]:
    """Return samples with the untimed work beyond the baseline's median (same round and size) added to their times.

    Where that median exceeds the timed part itself, the outer clock is too coarse, and samples stay unchanged.
    """
    asking_ns: dict[tuple[int, str], float] = {}
    for key, group in groupby(sorted(samples, key=_place), key=_place):
        honest = [sample for sample in group if sample.side is Side.BASELINE]
        asking_ns[key] = statistics.median(ns for sample in honest for ns in sample.hidden_ns)
        if asking_ns[key] > statistics.median(ns for sample in honest for ns in sample.ns) * honest[0].visit:
            del asking_ns[key]
    return [_with_hidden(each, asking_ns[_place(each)]) if _place(each) in asking_ns else each for each in samples]


def _with_hidden(sample: Sample, asking_ns: float) -> Sample:
    """Lengthen each iteration by its share of the untimed work of its series."""
    times: list[int] = []
    for number, hidden_ns in enumerate(sample.hidden_ns):
        visit = sample.ns[number * sample.visit : (number + 1) * sample.visit]
        stretch = 1 + (hidden_ns - asking_ns) / sum(visit)
        times += (max(1, round(ns * stretch)) for ns in visit)
    return replace(sample, ns=tuple(times))


def _place(sample: Sample) -> tuple[int, str]:
    return sample.round, sample.size
