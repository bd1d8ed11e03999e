"""What a set of rounds shows under a plan: intervals, and whether each condition of a decision holds.

Formulas: docs/METHODOLOGY.md, "The verdict". mean and sd are over the n rounds; theta_0 and theta_1 are the plan's.
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
    """Intervals of objective and sizes over the rounds of one look or one confirmation; `n` is the number of effects."""

    plan: Plan
    n: int
    objective: Interval
    sizes: Mapping[str, Interval]

    @property
    def intervals(self) -> dict[str, Interval]:
        """Intervals by name: the objective first, then the sizes in the order of the protocol."""
        return {OBJECTIVE: self.objective, **self.sizes}

    def regressing(self) -> list[str]:
        """Return the sizes that are surely slower, mean + r sd / sqrt(n) < 0, and by more than the plan's tolerance."""
        r, tolerance = at(REGRESSION, self.n), self.plan.tolerance
        return [size for size, it in self.sizes.items() if it.mean < -tolerance and upper_bound(it, r) < 0]

    def unguarded(self) -> list[str]:
        """Return the sizes that may have lost more than the guard: mean - t95 sd / sqrt(n) <= -G."""
        return [size for size, it in self.sizes.items() if lower_bound(it, t95(self.n)) <= -self.plan.guard]

    def unguarded_words(self) -> tuple[str, ...]:
        """Return one phrase for each size that may have lost more than the guard."""
        guard = f"may fall below {-100 * self.plan.guard:.1f} %"
        return tuple(f"{size} {describe(self.sizes[size])} {guard}" for size in self.unguarded())

    def gains(self) -> bool:
        """Is the gain beyond noise: mean - k sd / sqrt(n) > theta_0?"""
        return lower_bound(self.objective, at(KEEP, self.n)) > self.plan.floor

    def bounds(self) -> tuple[float, float]:
        """Return the bounds of the objective: a gain must show above the lower one, futility below the upper one."""
        return lower_bound(self.objective, at(KEEP, self.n)), upper_bound(self.objective, at(FUTILITY, self.n))

    def rescuer(self) -> str:
        """Return the first size whose own gain may keep the patch while the objective is about zero; empty if there is none.

        A rescuer must gain, even where the mode lets the objective lose.
        """
        if abs(self.objective.mean) > self.plan.worthwhile:
            return ""
        return next((s for s in self.plan.rescuers if lower_bound(self.sizes[s], self._rescue) > self.rescue_floor), "")

    def futile(self) -> bool:
        """Is a worthwhile effect ruled out: mean + f sd / sqrt(n) < theta_1 for the objective and every rescuer?"""
        f, ceiling = at(FUTILITY, self.n), self.plan.ceiling
        rescuers = (self.sizes[size] for size in self.plan.rescuers)
        return all(upper_bound(it, f) < ceiling for it in (self.objective, *rescuers))

    def confirms(self, rescuer: str) -> bool:
        """Does the one-sided 95 % lower bound of `rescuer` (of the objective where empty) lie above its theta_0?"""
        if rescuer:
            return lower_bound(self.sizes[rescuer], t95(self.n)) > self.rescue_floor
        return lower_bound(self.objective, t95(self.n)) > self.plan.floor

    @property
    def rescue_floor(self) -> float:
        """theta_0 of a rescuer, in log units: never below zero."""
        return max(0.0, self.plan.floor)

    @property
    def _rescue(self) -> float:
        return at(RESCUE[len(self.plan.rescuers)], self.n)


def evidence_of(rounds: Sequence[RoundEffect], plan: Plan, merged: int = 1) -> Evidence:
    """Compute intervals from at least two rounds; each effect is the mean of `merged` neighbouring rounds."""
    sizes = {size: t_interval([effect.effect[size] for effect in rounds], merged) for size in plan.weights}
    objective = t_interval(
        [math.fsum(w * effect.effect[size] for size, w in plan.weights.items()) for effect in rounds], merged
    )
    return Evidence(plan=plan, n=objective.n, objective=objective, sizes=sizes)


def describe(interval: Interval) -> str:
    """Return an interval in percent, e.g. `+2.30 % [+1.70, +2.90]`."""
    return f"{percent(interval.mean):+.2f} % [{percent(interval.low):+.2f}, {percent(interval.high):+.2f}]"
