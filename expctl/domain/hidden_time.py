"""Time that a build took and did not say: what was seen from outside of its process, beyond its own clock.

Each visit has some of it, for asking and answering take time; it is the same for both sides as long as neither hides any. A
candidate whose visits have more is charged with the difference before its gain counts. docs/METHODOLOGY.md, "Two clocks".
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from expctl.domain.evidence import OBJECTIVE, describe
from expctl.domain.experiment import Verdict
from expctl.domain.measurement import Sample, Side, round_effects
from expctl.domain.plan import Plan
from expctl.domain.stats import lower_bound, percent, t95, t999, t_interval
from expctl.domain.verdict import Decision


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
    """What of each size's gain, and of the objective's, surely is hidden time (log units); 0 where it may be chance."""
    used = [sample for sample in samples if sample.round in set(decision.rounds) and not sample.taints]
    if not used or not all(sample.hidden_ns for sample in used):
        return {}
    told, seen = round_effects(used), round_effects(_charged(used))
    gaps = [{size: t.effect[size] - s.effect[size] for size in plan.weights} for t, s in zip(told, seen, strict=True)]
    merged = decision.intervals[OBJECTIVE].merged
    by_name = {size: [gap[size] for gap in gaps] for size in plan.weights}
    by_name[OBJECTIVE] = [math.fsum(w * gap[size] for size, w in plan.weights.items()) for gap in gaps]
    intervals = {name: t_interval(values, merged) for name, values in by_name.items()}
    return {name: it.mean if lower_bound(it, t999(it.n)) > 0 else 0.0 for name, it in intervals.items()}


def _charged(samples: Sequence[Sample]) -> list[Sample]:
    """The samples as seen from outside: each visit with what it hid, less what asking takes (of the baseline, in the round).

    As they were where asking takes longer than running: such a clock can't vouch.
    """
    asking_ns: dict[tuple[int, str], float] = {}
    for key, group in groupby(sorted(samples, key=_place), key=_place):
        honest = [sample for sample in group if sample.side is Side.BASELINE]
        asking_ns[key] = statistics.median(ns for sample in honest for ns in sample.hidden_ns)
        if asking_ns[key] > statistics.median(ns for sample in honest for ns in sample.ns) * honest[0].visit:
            del asking_ns[key]
    return [_with_hidden(each, asking_ns[_place(each)]) if _place(each) in asking_ns else each for each in samples]


def _with_hidden(sample: Sample, asking_ns: float) -> Sample:
    """Each iteration longer by its share of what its visit hid."""
    times: list[int] = []
    for number, hidden_ns in enumerate(sample.hidden_ns):
        visit = sample.ns[number * sample.visit : (number + 1) * sample.visit]
        stretch = 1 + (hidden_ns - asking_ns) / sum(visit)
        times += (max(1, round(ns * stretch)) for ns in visit)
    return replace(sample, ns=tuple(times))


def _place(sample: Sample) -> tuple[int, str]:
    return sample.round, sample.size
