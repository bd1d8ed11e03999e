"""What some measured rounds show under a plan: intervals, and whether each condition of the verdict holds.

Formulas: docs/METHODOLOGY.md, "The verdict". mean and sd are over the n rounds.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from expctl.domain.experiment.record import OBJECTIVE as OBJECTIVE
from expctl.domain.protocol.boundaries import FUTILITY, KEEP, REGRESSION, RESCUE, at
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect
from expctl.domain.verdict.statistics import Interval, lower_bound, percent, t95, t_interval, upper_bound


class Evidence(Struct, frozen=True, kw_only=True):
    """Intervals of the objective (weighted mean over sizes) and of each size, from `n` effects, and the plan to judge them."""

    plan: Plan
    n: int
    objective: Interval
    sizes: Mapping[str, Interval]

    @property
    def intervals(self) -> dict[str, Interval]:
        """Intervals by name: `objective` first, then the problem sizes in the order of protocol.yaml."""
        return {OBJECTIVE: self.objective, **self.sizes}

    def regressing(self) -> list[str]:
        """Return the sizes that are significantly slower (mean + r sd / sqrt(n) < 0), and by more than the plan's tolerance."""
        r, tolerance = at(REGRESSION, self.n), self.plan.tolerance
        return [size for size, it in self.sizes.items() if it.mean < -tolerance and upper_bound(it, r) < 0]

    def unguarded(self) -> list[str]:
        """Return the sizes that may have lost `plan.guard` or more: mean - t95 sd / sqrt(n) <= -guard."""
        return [size for size, it in self.sizes.items() if lower_bound(it, t95(self.n)) <= -self.plan.guard]

    def unguarded_words(self) -> tuple[str, ...]:
        """Return one phrase, with the size's interval, for each size that may have lost `plan.guard` or more."""
        guard = f"may fall below {-100 * self.plan.guard:.1f} %"
        return tuple(f"{size} {describe(self.sizes[size])} {guard}" for size in self.unguarded())

    def gains(self) -> bool:
        """Is the objective's gain significant: mean - k sd / sqrt(n) > plan.floor, with k of the sequential test?"""
        return lower_bound(self.objective, at(KEEP, self.n)) > self.plan.floor

    def bounds(self) -> tuple[float, float]:
        """Return the objective's confidence bounds in the sequential test: lower one for a gain, upper one for futility."""
        return lower_bound(self.objective, at(KEEP, self.n)), upper_bound(self.objective, at(FUTILITY, self.n))

    def rescuer(self) -> str:
        """Return the first size whose own significant gain may keep a patch without a gain of the objective; else empty."""
        if abs(self.objective.mean) > self.plan.worthwhile:
            return ""
        return next((s for s in self.plan.rescuers if lower_bound(self.sizes[s], self._rescue) > self.rescue_floor), "")

    def futile(self) -> bool:
        """Is a worthwhile gain ruled out: mean + f sd / sqrt(n) < plan.ceiling for the objective and for every rescuer size?"""
        f, ceiling = at(FUTILITY, self.n), self.plan.ceiling
        rescuers = (self.sizes[size] for size in self.plan.rescuers)
        return all(upper_bound(it, f) < ceiling for it in (self.objective, *rescuers))

    def confirms(self, rescuer: str) -> bool:
        """Is the one-sided 95 % lower bound of size `rescuer` (empty: of the objective) above the effect that a KEEP needs?"""
        if rescuer:
            return lower_bound(self.sizes[rescuer], t95(self.n)) > self.rescue_floor
        return lower_bound(self.objective, t95(self.n)) > self.plan.floor

    @property
    def rescue_floor(self) -> float:
        """Effect, in log units, that a size must exceed to keep a patch by its own gain: `plan.floor`, but at least 0."""
        return max(0.0, self.plan.floor)

    @property
    def _rescue(self) -> float:
        return at(RESCUE[len(self.plan.rescuers)], self.n)


def evidence_of(rounds: Sequence[RoundEffect], plan: Plan, merged: int = 1) -> Evidence:
    """Compute the intervals of at least two effects, each of them the mean of `merged` successive rounds."""
    sizes = {size: t_interval([effect.effect[size] for effect in rounds], merged) for size in plan.weights}
    objective = t_interval([effect.objective(plan.weights) for effect in rounds], merged)
    return Evidence(plan=plan, n=objective.n, objective=objective, sizes=sizes)


def describe(interval: Interval) -> str:
    """Return an interval in percent as text, e.g. `+2.30 % [+1.70, +2.90]`."""
    return f"{percent(interval.mean):+.2f} % [{percent(interval.low):+.2f}, {percent(interval.high):+.2f}]"
