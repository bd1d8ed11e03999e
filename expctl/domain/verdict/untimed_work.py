"""Finds work that a build does outside the interval that its own clock times, such as work left running after a launch.

The harness also times each request from outside the process. The difference of the two clocks is about equal for both sides
unless one hides work; the candidate's excess over the baseline is added to its times before a gain counts.
See docs/METHODOLOGY.md, "Two clocks".
"""

import statistics
from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.verdict.evidence import OBJECTIVE, describe
from expctl.domain.verdict.paired_rounds import by_pairs
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Sample, Session, Side, round_effects
from expctl.domain.verdict.sequential_test import Decision, MeasureMore, decide
from expctl.domain.verdict.statistics import Interval, lower_bound, t999, t_interval


def charge_untimed_work(decision: Decision, samples: Sequence[Sample], plan: Plan) -> Decision | MeasureMore:
    """Return `decision`, but decide a KEEP again by the harness's clock if that shows a significantly smaller gain. The KEEP
    stands if both clocks give KEEP; else the verdict is REJECT, or more rounds must be measured.
    """
    if decision.verdict is not Verdict.KEEP or decision.procedure is None:
        return decision
    told = by_pairs(round_effects(samples), plan.respawn)
    search = [each.round for each in told.effects if each.session is Session.SEARCH][: decision.procedure.search_rounds]
    used = {*decision.rounds, *(round for first in search for round in told.rounds[first])}
    hidden = _hidden([sample for sample in samples if sample.round in used], plan)
    if not hidden:
        return decision
    seen = decide(by_pairs(round_effects(_charged(_untainted(samples))), plan.respawn).effects, plan)
    if isinstance(seen, MeasureMore) or seen.verdict is Verdict.KEEP:
        return seen if isinstance(seen, MeasureMore) else decision
    name, effect = next(iter(hidden.items()))
    told_by, seen_by = f"{describe(effect.told)} by the candidate's own clock", f"{describe(effect.seen)} as seen from outside"
    reasons = f"hidden time: {name} {told_by}, {seen_by} of its process", f"by that clock {seen.reasons[0]}"
    return replace(decision, verdict=Verdict.REJECT, reasons=reasons)


class _Effect(Struct, frozen=True, kw_only=True):
    """An effect by the candidate's own clock (`told`), and by the harness's clock (`seen`), with 95 % t intervals."""

    told: Interval
    seen: Interval


def _hidden(samples: Sequence[Sample], plan: Plan) -> dict[str, _Effect]:
    """Return the effects, by name (`objective` or a size), that are significantly larger (t test, 99.95 %) by the candidate's
    own clock than by the harness's clock.
    """
    used = _untainted(samples)
    if not used or not all(sample.hidden_ns for sample in used):
        return {}
    told, seen = (_by_name(by_pairs(round_effects(each), plan.respawn).effects, plan) for each in (used, _charged(used)))
    found = {}
    for name in told:
        gap = t_interval([t - s for t, s in zip(told[name], seen[name], strict=True)])
        if lower_bound(gap, t999(gap.n)) > 0:
            found[name] = _Effect(told=t_interval(told[name]), seen=t_interval(seen[name]))
    return found


def _untainted(samples: Sequence[Sample]) -> list[Sample]:
    return [sample for sample in samples if not sample.taints]


def _by_name(rounds: Sequence[RoundEffect], plan: Plan) -> dict[str, list[float]]:
    by_name = {OBJECTIVE: [each.objective(plan.weights) for each in rounds]}
    return by_name | {size: [each.effect[size] for each in rounds] for size in plan.weights}


def _charged(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples with their untimed work added to their times, less the baseline's median at that round and size.
    Samples stay unchanged where that median exceeds the timed work itself: the outer clock is then too coarse.
    """
    asking_ns: dict[tuple[int, str], float] = {}
    for key, group in groupby(sorted(samples, key=_place), key=_place):
        honest = [sample for sample in group if sample.side is Side.BASELINE]
        asking_ns[key] = statistics.median(ns for sample in honest for ns in sample.hidden_ns)
        if asking_ns[key] > statistics.median(ns for sample in honest for ns in sample.ns) * honest[0].visit:
            del asking_ns[key]
    return [_with_hidden(each, asking_ns[_place(each)]) if _place(each) in asking_ns else each for each in samples]


def _with_hidden(sample: Sample, asking_ns: float) -> Sample:
    """Spread the untimed time of each series of iterations over these iterations, after deducting `asking_ns` per series.
    `asking_ns` is the untimed time that the baseline has as well.
    """
    times: list[int] = []
    for number, hidden_ns in enumerate(sample.hidden_ns):
        visit = sample.ns[number * sample.visit : (number + 1) * sample.visit]
        stretch = 1 + (hidden_ns - asking_ns) / sum(visit)
        times += (max(1, round(ns * stretch)) for ns in visit)
    return replace(sample, ns=tuple(times))


def _place(sample: Sample) -> tuple[int, str]:
    return sample.round, sample.size
