"""The procedure a second time, written from its description alone, to be compared with `decide`.

It shares the tables of critical values with the code under test, and nothing else of what decides.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.protocol.boundaries import CONFIRM, SEARCH, Boundaries
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect
from expctl.domain.verdict.statistics import t95, t995, t999

OBJECTIVE = "objective"


@dataclass(frozen=True)
class Outcome:
    """What a life should come to: `why` is a word for the line of the procedure that held."""

    verdict: Verdict
    why: str
    search: int
    confirm: int = 0
    rescuer: str = ""


class Unclear(Exception):
    """The description leaves open how to split the rounds of a fading gain; or a test of its own disputes the answer."""


@dataclass(frozen=True)
class Seen:
    """Values of one name at one look."""

    values: Sequence[float]

    @property
    def mean(self) -> float:
        return fmean(self.values)

    def off(self, critical: float) -> float:
        return self.mean + critical * stdev(self.values) / math.sqrt(len(self.values))


def expected(search: Sequence[RoundEffect], confirm: Sequence[RoundEffect], plan: Plan) -> Outcome:
    """The outcome of a life with enough rounds of both sessions."""
    for n in SEARCH.until(plan.rounds):
        seen = _looked(search[:n], plan, merge=1)
        if _regresses(seen, SEARCH, n, plan):
            return Outcome(Verdict.REJECT, "regression", n)
        guarded = all(seen[size].off(-t95(n)) > -plan.guard for size in plan.weights)
        if guarded and _low(seen[OBJECTIVE], SEARCH, n) > plan.floor:
            return _confirmed(search[:n], confirm, plan, "")
        if guarded and abs(seen[OBJECTIVE].mean) <= plan.worthwhile and _high(seen[OBJECTIVE], SEARCH, n) >= 0:
            table = SEARCH.rescue[max(1, len(plan.rescuers))]
            for size in plan.rescuers:
                bound = seen[size].off(-SEARCH.at(table, n))
                if min(bound, _low(seen[size], SEARCH, n)) > max(0.0, plan.floor):
                    return _confirmed(search[:n], confirm, plan, size)
        if all(_high(seen[name], SEARCH, n) < plan.ceiling for name in (OBJECTIVE, *plan.rescuers)):
            return Outcome(Verdict.REJECT, "ruled out", n)
    return Outcome(Verdict.INCONCLUSIVE, "limit", SEARCH.until(plan.rounds)[-1])


def _confirmed(before: Sequence[RoundEffect], confirm: Sequence[RoundEffect], plan: Plan, rescuer: str) -> Outcome:
    name = rescuer or OBJECTIVE
    floor = max(0.0, plan.floor) if rescuer else plan.floor
    for pairs in CONFIRM.until(max(plan.confirm, 140) // 2):
        rounds = confirm[: 2 * pairs]
        seen, both = _looked(rounds, plan, merge=2), [*before, *rounds]

        def end(verdict: Verdict, why: str, n: int = 2 * pairs) -> Outcome:
            return Outcome(verdict, why, len(before), n, rescuer)

        if _regresses(seen, CONFIRM, pairs, plan):
            return end(Verdict.REJECT, "regression")
        mean_time = Seen([each.mean_objective(plan.weights) for each in both])
        if mean_time.off(t999(len(both))) < -plan.guard:
            return end(Verdict.REJECT, "mean time")
        gains = _low(seen[name], CONFIRM, pairs) > floor and not (rescuer and _high(seen[OBJECTIVE], CONFIRM, pairs) < 0)
        if gains:
            sizes_hold = all(_low(seen[size], CONFIRM, pairs) > -plan.guard for size in plan.weights)
            mean_holds = mean_time.off(-t95(len(both))) > -plan.guard
            wanted = min(270.0, math.log(200) * plan.slow_launch / (seen[name].mean - floor))
            launches_hold = plan.launches * len(both) >= wanted
            if sizes_hold and mean_holds and launches_hold and not _fades([_value(each, name, plan) for each in both]):
                return end(Verdict.KEEP, "kept")
        elif _low(seen[name], CONFIRM, pairs) <= floor and _high(seen[name], CONFIRM, pairs) < plan.ceiling:
            return end(Verdict.REJECT, "ruled out")
        coming = [look for look in CONFIRM.until(max(plan.confirm, 140) // 2) if look > pairs]
        if not coming or (2 * coming[0] > plan.confirm and not gains):
            return end(Verdict.INCONCLUSIVE, "limit")
    raise AssertionError("the last look decides")


def _value(each: RoundEffect, name: str, plan: Plan) -> float:
    return each.objective(plan.weights) if name == OBJECTIVE else each.effect[name]


def _looked(rounds: Sequence[RoundEffect], plan: Plan, merge: int) -> dict[str, Seen]:
    found = {}
    for name in (OBJECTIVE, *plan.weights):
        values = [_value(each, name, plan) for each in rounds]
        found[name] = Seen([fmean(values[i : i + merge]) for i in range(0, len(values), merge)])
    return found


def _low(seen: Seen, bounds: Boundaries, n: int) -> float:
    return seen.off(-bounds.low[bounds.looks.index(n)])


def _high(seen: Seen, bounds: Boundaries, n: int) -> float:
    return seen.off(bounds.high[bounds.looks.index(n)])


def _regresses(seen: dict[str, Seen], bounds: Boundaries, n: int, plan: Plan) -> bool:
    critical = bounds.regression[bounds.looks.index(n)]
    return any(seen[size].off(critical) < 0 and seen[size].mean < -plan.tolerance for size in plan.weights)


def _fades(effects: Sequence[float]) -> bool:
    """All ways to split an odd number in halves, and pooled or separate variances."""
    n, half = len(effects), len(effects) // 2
    answers = set()
    for first, second in {(half, half), (n - half, n - half), (half, n - half)}:
        one, other = effects[:first], effects[second:]
        a, b = len(one), len(other)
        pooled = ((a - 1) * stdev(one) ** 2 + (b - 1) * stdev(other) ** 2) / (a + b - 2)
        for error in (math.sqrt(pooled * (1 / a + 1 / b)), math.sqrt(stdev(one) ** 2 / a + stdev(other) ** 2 / b)):
            answers.add(fmean(other) + t995(a + b - 1) * error < fmean(one))
    if len(answers) > 1:
        raise Unclear
    return answers.pop()
