"""What the rounds of a look show under a plan: intervals, and whether each condition of a decision holds.

Formulas: docs/METHODOLOGY.md, "The verdict". The printed interval is the one that decides: it shows a gain if all of it lies
above the floor, theta_0, and it ends a search as futile if all of it lies below the ceiling, theta_1.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from expctl.domain.experiment.record import OBJECTIVE as OBJECTIVE
from expctl.domain.protocol.boundaries import CONFIRM, CONFIRM_MERGES, SEARCH, Boundaries
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.statistics import Interval, interval, lower_bound, percent, t95, upper_bound

DIGITS_MOST = 12  # decimals of a percent


class Evidence(Struct, frozen=True, kw_only=True):
    """The intervals at one look over `n` values. A value is the effect of a round; in a confirmation, the mean of two."""

    plan: Plan
    bounds: Boundaries
    n: int
    objective: Interval
    sizes: Mapping[str, Interval]

    @property
    def intervals(self) -> dict[str, Interval]:
        """Intervals by name: `objective` first, then the sizes in the order of the protocol."""
        return {OBJECTIVE: self.objective, **self.sizes}

    def regressing(self) -> list[str]:
        """Return the sizes that lose more than the plan's tolerance on average and are surely slower. Surely slower: mean + r
        sd / sqrt(n) < 0, where r is the critical value `regression` at this look.
        """
        r, tolerance = self.bounds.at(self.bounds.regression, self.n), self.plan.tolerance
        return [size for size, it in self.sizes.items() if it.mean < -tolerance and upper_bound(it, r) < 0]

    def unguarded(self) -> list[str]:
        """Return the sizes that may lose more than the plan's guard G: mean - t sd / sqrt(n) <= -G. t is Student's t for a
        one-sided 95 % bound from n values.
        """
        return [size for size, it in self.sizes.items() if lower_bound(it, t95(self.n)) <= -self.plan.guard]

    def losing(self) -> list[str]:
        """Return the sizes whose interval lies wholly below zero."""
        return [size for size, it in self.sizes.items() if it.high < 0]

    def gains(self, rescuer: str = "") -> bool:
        """Does the interval of the size `rescuer`, or of the objective if it is empty, lie above what a KEEP must exceed? For a
        size, False if the interval of the objective lies wholly below zero.
        """
        if rescuer:
            return self.sizes[rescuer].low > self.plan.floor_of(rescuer) and self.objective.high >= 0
        return self.objective.low > self.plan.floor

    def rescuer(self) -> str:
        """Return the first size whose own gain may keep the patch while the objective is about zero; empty if there is none.
        Its gain must lie above zero, even if the mode allows the objective a loss.
        """
        if not self.plan.rescuers or abs(self.objective.mean) > self.plan.worthwhile:
            return ""
        critical = self.bounds.at(self.bounds.rescue[len(self.plan.rescuers)], self.n)
        passing = (size for size in self.plan.rescuers if lower_bound(self.sizes[size], critical) > self.plan.floor_of(size))
        return next((size for size in passing if self.gains(size)), "")

    def futile(self, *names: str) -> bool:
        """Do the intervals of all `names` (sizes or objective) lie below the smallest worthwhile effect (`Plan.ceiling`)?"""
        return all(self.intervals[name].high < self.plan.ceiling for name in names)

    def describe(self, name: str) -> str:
        """Return the interval of `name` as text, e.g. `+2.30 % [+1.70, +2.90]`. It has so many digits that no end is rounded
        onto a limit of the plan.
        """
        return describe(self.intervals[name], limits_of(self.plan))


def evidence_of(rounds: Sequence[RoundEffect], plan: Plan, session: Session) -> Evidence:
    """Compute the intervals of one look from at least two rounds. A confirmation averages pairs of successive rounds first."""
    bounds, merged = (CONFIRM, CONFIRM_MERGES) if session is Session.CONFIRM else (SEARCH, 1)
    n = len(rounds) // merged
    low, high = bounds.at(bounds.low, n), bounds.at(bounds.high, n)
    return Evidence(
        plan=plan,
        bounds=bounds,
        n=n,
        objective=interval([each.objective(plan.weights) for each in rounds], low, high, merged),
        sizes={size: interval([each.effect[size] for each in rounds], low, high, merged) for size in plan.weights},
    )


def limits_of(plan: Plan) -> tuple[float, ...]:
    """Return the effects (log units) that intervals are compared with: zero, floor, least worthwhile gain, largest loss."""
    return 0.0, plan.floor, plan.ceiling, -plan.guard


def limit_text(limit: float) -> str:
    """Return a limit in percent with its sign, e.g. `+0.5 %`."""
    return f"{round(percent(limit), 4) + 0.0:+g} %"  # + 0.0: never -0


def describe(found: Interval, limits: Sequence[float] = (0.0,)) -> str:
    """Return an interval in percent, e.g. `+2.30 % [+1.70, +2.90]`, with so many digits that no end is rounded onto a limit.
    `limits` are effects in log units that the ends are compared with.
    """
    digits = _digits((found.low, found.high), limits)
    low, high = (f"{percent(end):+.{digits}f}" for end in (found.low, found.high))
    return f"{percent(found.mean):+.{digits}f} % [{low}, {high}]"


def bound_text(bound: float, limits: Sequence[float]) -> str:
    """Return a bound (log effect) in percent, e.g. `+1.70 %`, with so many digits that it is rounded onto none of `limits`."""
    return f"{percent(bound):+.{_digits((bound,), limits)}f} %"


def _digits(ends: Sequence[float], limits: Sequence[float]) -> int:
    return next((digits for digits in range(2, DIGITS_MOST) if _apart(ends, limits, digits)), DIGITS_MOST)


def _apart(ends: Sequence[float], limits: Sequence[float], digits: int) -> bool:
    """Do all ends of an interval stay above or below each limit, as they are, when rounded to `digits` digits?"""
    return all(
        (end < limit) == (round(percent(end), digits) < round(percent(limit), digits))
        and (end > limit) == (round(percent(end), digits) > round(percent(limit), digits))
        for end in ends
        for limit in limits
    )
