"""Time that a build took and did not say: what was seen from outside of its process, beyond its own clock.

Each visit has some of it, for asking and answering take time; it is the same for both sides as long as neither hides any. A
candidate whose visits have more is charged with the difference before its gain counts. docs/METHODOLOGY.md, "Two clocks".
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from expctl.domain.evidence import OBJECTIVE, describe
from expctl.domain.experiment import Verdict
from expctl.domain.measurement import Sample, Side
from expctl.domain.plan import Plan
from expctl.domain.stats import Interval, lower_bound, percent, t95, t999, t_interval
from expctl.domain.verdict import Decision

TRIMMED = 0.1  # of the visits, on either end: another process came in between


def all_charged(decision: Decision, samples: Sequence[Sample], plan: Plan) -> Decision:
    """The decision, or the REJECT of a KEEP that rests on hidden time."""
    if decision.verdict is not Verdict.KEEP:
        return decision
    hidden = _hidden(decision, samples, plan)
    rescuer = decision.procedure.rescued_by if decision.procedure else ""
    floors = dict.fromkeys(plan.weights, -plan.guard) | {rescuer or OBJECTIVE: max(0.0, plan.floor) if rescuer else plan.floor}
    for name, floor in floors.items():
        found, share = decision.intervals[name], hidden.get(name, 0.0)
        if share > 0 and lower_bound(found, t95(found.n)) - share <= floor:
            reason = (
                f"hidden time: {name} {describe(found)} by its own clock, but {percent(share):.2f} % more than of the "
                "baseline's time was seen only from outside, and what is left shows nothing"
            )
            return replace(decision, verdict=Verdict.REJECT, reasons=(reason,))
    return decision


def _hidden(decision: Decision, samples: Sequence[Sample], plan: Plan) -> dict[str, float]:
    """What surely is hidden of each size and of the objective, as a share of the candidate's time; 0 where it may be chance."""
    merged, by_round = decision.intervals[OBJECTIVE].merged, _shares(samples)
    rounds = [by_round[index] for index in decision.rounds if index in by_round]
    seen = {size: [shares[size] for shares in rounds] for size in plan.weights if rounds and all(size in s for s in rounds)}
    if len(seen) == len(plan.weights):
        seen[OBJECTIVE] = [math.fsum(w * shares[size] for size, w in plan.weights.items()) for shares in rounds]
    intervals = {name: t_interval(shares, merged) for name, shares in seen.items() if len(shares) >= 2 * merged}
    return {name: _surely(interval) for name, interval in intervals.items()}


def _surely(interval: Interval) -> float:
    return interval.mean if lower_bound(interval, t999(interval.n)) > 0 else 0.0


def _shares(samples: Sequence[Sample]) -> Mapping[int, Mapping[str, float]]:
    """By round and size: how much more hidden time a visit of the candidate has than one of the baseline, over its own time.

    Nothing for a size of which asking took longer than running: such a clock can't vouch.
    """
    visits: dict[tuple[int, str], dict[Side, list[Sample]]] = {}
    for sample in samples:
        if sample.hidden_ns and not sample.taints:
            visits.setdefault((sample.round, sample.size), {}).setdefault(sample.side, []).append(sample)
    found: dict[int, dict[str, float]] = {}
    for (index, size), sides in visits.items():
        if len(sides) < len(Side):
            continue
        hidden = {side: _trimmed_mean([ns for each in group for ns in each.hidden_ns]) for side, group in sides.items()}
        own = {
            side: group[0].visit * statistics.median(ns for each in group for ns in each.ns) for side, group in sides.items()
        }
        if hidden[Side.BASELINE] <= own[Side.BASELINE]:
            share = (hidden[Side.CANDIDATE] - hidden[Side.BASELINE]) / own[Side.CANDIDATE]
            found.setdefault(index, {})[size] = math.log1p(max(-0.5, share))
    return found


def _trimmed_mean(values: Sequence[int]) -> float:
    cut = int(TRIMMED * len(values))
    return statistics.fmean(sorted(values)[cut : len(values) - cut])
