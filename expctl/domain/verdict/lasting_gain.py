"""Further conditions on a gain that the confirmation's interval has shown: it must hold for the mean time, over enough
launches, for all layouts, and to the end.

All rounds of search and confirmation count. See docs/METHODOLOGY.md, "What a KEEP needs".
"""

import math
from collections.abc import Sequence

from expctl.domain.verdict.evidence import bound_text, describe, limit_text, limits_of
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect
from expctl.domain.verdict.statistics import Interval, interval, percent, t95, t995, t999

UNSEEN = math.log(200)  # n launches without a slow one: 99.5 % sure that their share is below UNSEEN / n
LAUNCHES_MOST = 270  # enough to have seen slow launches of a share of 2 %, whatever the gain


def mean_time(rounds: Sequence[RoundEffect], plan: Plan) -> Interval:
    """Return the effect (log units) on the mean time of all iterations, with its two-sided 90 % t interval."""
    critical = t95(len(rounds))
    return interval([each.mean_objective(plan.weights) for each in rounds], critical, critical)


def loses_mean_time(rounds: Sequence[RoundEffect], plan: Plan) -> str:
    """Return a sentence if the mean time surely (99.95 %) loses more than the guard allows, even if the medians gain. Empty if
    it doesn't.
    """
    critical = t999(len(rounds))
    found = interval([each.mean_objective(plan.weights) for each in rounds], critical, critical)
    return f"the mean time of all iterations loses: {describe(found, limits_of(plan))}" if found.high < -plan.guard else ""


def doubts(
    before: Sequence[RoundEffect], confirm: Sequence[RoundEffect], plan: Plan, rescuer: str, gain: float
) -> tuple[str, ...]:
    """Return the reasons not yet to keep a `gain` (log units) that the intervals have shown; empty to keep it.

    The gain is that of the size `rescuer`, or of the objective if empty. `before` are the rounds of the search, `confirm` those
    of the confirmation.
    """
    rounds = [*before, *confirm]
    found, doubtful = mean_time(rounds, plan), []
    if found.low <= -plan.guard:
        doubtful.append(
            f"the effect on the mean time of all iterations, {percent(found.mean):+.2f} % and with 95 % confidence above "
            f"{bound_text(found.low, limits_of(plan))}, may lie below {limit_text(-plan.guard)}"
        )
    missing = launches_needed(plan, gain - plan.floor_of(rescuer)) - plan.launches * len(rounds)
    if missing > 0:
        doubtful.append(
            f"rare launches, {100 * plan.slow_launch:g} % slower, could cost the gain unseen: "
            f"{missing} launches more would show them"
        )
    effects = [each.effect[rescuer] if rescuer else each.objective(plan.weights) for each in rounds]
    if placed := depends_on_placement(effects, [each.layout for each in rounds], plan.floor_of(rescuer)):
        doubtful.append(placed)
    if fades(effects):
        doubtful.append("the gain fades: smaller in the second half of all rounds than in the first")
    return tuple(doubtful)


def launches_needed(plan: Plan, margin: float) -> int:
    """Return how many launches of the candidate a KEEP needs; `margin` is the gain minus what a KEEP must exceed, in log units.

    If n launches showed no slow one (slower by s), the share of slow ones is below ln(200) / n (99.5 %), so they cost at most
    s ln(200) / n on average. n is large enough when that is no more than the margin.
    """
    if not plan.slow_launch:
        return 0
    return min(LAUNCHES_MOST, math.ceil(UNSEEN * plan.slow_launch / margin)) if margin > 0 else LAUNCHES_MOST


def depends_on_placement(effects: Sequence[float], layouts: Sequence[int], floor: float) -> str:
    """Return a sentence if the gain may hold only for some layouts (placements of the code); empty if not, or with one layout.
    It holds for all if the mean over layouts surely exceeds `floor`: one-sided t test over one mean per layout, 99.5 %.
    """
    of_layout: dict[int, list[float]] = {}
    for effect, layout in zip(effects, layouts, strict=True):
        of_layout.setdefault(layout, []).append(effect)
    if len(of_layout) == 1:
        return ""
    critical = t995(len(of_layout))
    found = interval([math.fsum(each) / len(each) for each in of_layout.values()], critical, critical)
    if found.low > floor:
        return ""
    return f"over {found.n} placements of the code it is only surely above {bound_text(found.low, (0.0, floor))}"


def fades(effects: Sequence[float]) -> bool:
    """Is the mean of the second half of `effects` significantly below the first half's? Two-sample t test, one-sided, 99.5 %.
    False for fewer than six effects.
    """
    half = len(effects) // 2
    first, second = (interval(part, 0, 0) for part in (effects[:half], effects[-half:]))
    return first.mean - second.mean > t995(2 * half - 1) * math.sqrt((first.sd**2 + second.sd**2) / half)
