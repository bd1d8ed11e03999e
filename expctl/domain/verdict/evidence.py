"""What some rounds say under a plan: the intervals, and whether each line of the order of decisions holds.

Formulas: docs/METHODOLOGY.md, "The verdict". mean and sd are over the rounds, n of them; theta_0 and theta_1 are the plan's.
"""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from expctl.domain.experiment.record import OBJECTIVE as OBJECTIVE
from expctl.domain.protocol.boundaries import FUTILITY, KEEP, REGRESSION, RESCUE, at
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect
from expctl.domain.verdict.statistics import Interval, lower_bound, percent, t95, t_interval, upper_bound


class Evidence(Struct, frozen=True, kw_only=True):
    """The rounds of one look, or of one confirmation; `n` counts effects, each of `merged` neighbouring rounds."""

    plan: Plan
    n: int
    objective: Interval
    sizes: Mapping[str, Interval]

    @property
    def intervals(self) -> dict[str, Interval]:
        """The objective first, then the sizes in the order of the protocol."""
        return {OBJECTIVE: self.objective, **self.sizes}

    def regressing(self) -> list[str]:
        """Sizes with mean + r sd / sqrt(n) < 0 whose loss is beyond the tolerance."""
        r, tolerance = at(REGRESSION, self.n), self.plan.tolerance
        return [size for size, it in self.sizes.items() if it.mean < -tolerance and upper_bound(it, r) < 0]

    def unguarded(self) -> list[str]:
        """Sizes that may have lost more than the guard: mean - t95 sd / sqrt(n) <= -G."""
        return [size for size, it in self.sizes.items() if lower_bound(it, t95(self.n)) <= -self.plan.guard]

    def unguarded_words(self) -> tuple[str, ...]:
        """One phrase for each of them."""
        guard = f"may fall below {-100 * self.plan.guard:.1f} %"
        return tuple(f"{size} {describe(self.sizes[size])} {guard}" for size in self.unguarded())

    def gains(self) -> bool:
        """mean - k sd / sqrt(n) > theta_0."""
        return lower_bound(self.objective, at(KEEP, self.n)) > self.plan.floor

    def bounds(self) -> tuple[float, float]:
        """Between what the objective lies by the test: a gain must show above the lower one, futility below the upper one."""
        return lower_bound(self.objective, at(KEEP, self.n)), upper_bound(self.objective, at(FUTILITY, self.n))

    def rescuer(self) -> str:
        """The first rescuer beyond its own boundary, while the objective is about zero; else empty.

        A rescuer must gain, also where the mode lets the objective lose.
        """
        if abs(self.objective.mean) > self.plan.worthwhile:
            return ""
        return next((s for s in self.plan.rescuers if lower_bound(self.sizes[s], self._rescue) > self.rescue_floor), "")

    def futile(self) -> bool:
        """mean + f sd / sqrt(n) < theta_1, for the objective and for every rescuer."""
        f, ceiling = at(FUTILITY, self.n), self.plan.ceiling
        rescuers = (self.sizes[size] for size in self.plan.rescuers)
        return all(upper_bound(it, f) < ceiling for it in (self.objective, *rescuers))

    def confirms(self, rescuer: str) -> bool:
        """The one-sided 95 % lower bound of what the search found lies above theta_0."""
        if rescuer:
            return lower_bound(self.sizes[rescuer], t95(self.n)) > self.rescue_floor
        return lower_bound(self.objective, t95(self.n)) > self.plan.floor

    @property
    def rescue_floor(self) -> float:
        """theta_0 of a rescuer."""
        return max(0.0, self.plan.floor)

    @property
    def _rescue(self) -> float:
        return at(RESCUE[len(self.plan.rescuers)], self.n)


def evidence_of(rounds: Sequence[RoundEffect], plan: Plan, merged: int = 1) -> Evidence:
    """Reduce at least two effects, each the mean of `merged` neighbouring rounds."""
    sizes = {size: t_interval([effect.effect[size] for effect in rounds], merged) for size in plan.weights}
    objective = t_interval(
        [math.fsum(w * effect.effect[size] for size, w in plan.weights.items()) for effect in rounds], merged
    )
    return Evidence(plan=plan, n=objective.n, objective=objective, sizes=sizes)


def describe(interval: Interval) -> str:
    """`+2.3 % [+1.7, +2.9]` of an interval in log units."""
    return f"{percent(interval.mean):+.2f} % [{percent(interval.low):+.2f}, {percent(interval.high):+.2f}]"
