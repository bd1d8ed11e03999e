"""Estimates how many rounds, and minutes, would decide an experiment that ended undecided."""

import math
import statistics
from collections.abc import Sequence

from expctl.domain.protocol.boundaries import FUTILITY, KEEP
from expctl.domain.verdict.evidence import OBJECTIVE, Evidence, describe
from expctl.domain.verdict.samples import RoundEffect
from expctl.domain.verdict.statistics import percent

ENDLESS = 1_000_000
ONE_SIDED_95 = 1.645
BOUNDS_SAID = 1  # the first version of reason wording that names the bounds


def price_of(seen: Evidence, rounds: Sequence[RoundEffect]) -> tuple[str, ...]:
    """Return why an experiment is undecided and about how many rounds in total would decide it, as sentences.

    Assumes that the means stay: the objective passes after (k sd / (mean - floor))^2 rounds, a size after (1.645 sd / (mean +
    guard))^2, and a worthwhile gain is ruled out after (f sd / (ceiling - mean))^2, with the critical values k and f of the
    last look (planned interim analysis). sd is the larger of the measured and the calibrated one.
    """
    plan, found, floor = seen.plan, seen.objective, seen.plan.floor
    passing = max(
        _rounds(KEEP[-1], _sd(seen, OBJECTIVE), found.mean - floor),
        *(_rounds(ONE_SIDED_95, _sd(seen, size), it.mean + plan.guard) for size, it in seen.sizes.items()),
    )
    futile = max(
        _rounds(FUTILITY[-1], _sd(seen, each), plan.ceiling - seen.intervals[each].mean) for each in (OBJECTIVE, *plan.rescuers)
    )
    more = max(seen.objective.rounds + 1, min(passing, futile))
    minutes = more * statistics.median(each.duration_s for each in rounds) / 60
    took = f" (about {math.ceil(minutes)} minute{'s' if minutes > 1 else ''})" if minutes else ""
    limit = f", and a search takes at most {plan.rounds}" if plan.rounds < more < ENDLESS else ""
    price = f"about {more} rounds{took} would decide{limit}" if more < ENDLESS else "no number of rounds would decide"
    return (f"{_undecided(seen)}: {price}", *seen.unguarded_words())


def _undecided(seen: Evidence) -> str:
    found, plan = f"{OBJECTIVE} {describe(seen.objective)}", seen.plan
    open_between = f"neither above {percent(plan.floor):+.1f} % nor below {percent(plan.ceiling):+.1f} %"
    if plan.words < BOUNDS_SAID:
        return found if seen.unguarded() and seen.objective.low > plan.floor else f"{found} is {open_between}"
    low, high = seen.bounds()
    if low > plan.floor:
        return found
    said = f"{found}, by the bounds of the test at this look {percent(low):+.2f} % to {percent(high):+.2f} %,"
    if high < plan.ceiling:
        return f"{said} is below {percent(plan.ceiling):+.1f} %, but not surely every rescuer ({', '.join(plan.rescuers)})"
    return f"{said} is {open_between}"


def _sd(seen: Evidence, name: str) -> float:
    calibrated = seen.plan.calibrated
    return max(seen.intervals[name].round_sd, calibrated.sd(name) if calibrated else 0.0)


def _rounds(critical: float, sd: float, distance: float) -> int:
    if distance <= 0:
        return ENDLESS
    return min(ENDLESS, math.ceil((critical * sd / distance) ** 2))
