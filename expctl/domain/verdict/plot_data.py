"""Data of an experiment's plot: the effect of every round and the limits of the running mean. Pure.

Effects are in percent of throughput; positive means that the candidate is faster.
"""

import math
from collections.abc import Sequence

from msgspec import Struct

from expctl.domain.experiment.record import Estimate
from expctl.domain.protocol.boundaries import CONFIRM, CONFIRM_MERGES, SEARCH
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.statistics import interval, percent


class Caption(Struct, frozen=True, kw_only=True):
    """Texts above a plot: the experiment, its target, and its verdict or current state. Not yet escaped for display."""

    id: str
    title: str
    target: str
    outcome: str
    reason: str


class Look(Struct, frozen=True, kw_only=True):
    """The limits at one look, after `rounds` rounds, in percent. A mean above `keep` goes on to the confirmation, one below
    `futile` is rejected.
    """

    rounds: int
    keep: float
    futile: float


class Picture(Struct, frozen=True, kw_only=True):
    """Data of one experiment's plot, in percent: the effects of the rounds of search and confirmation, and their running means.

    `looks` are the limits at each look of the search, `confirm_above` is what the mean of the confirmation must exceed (None
    before its first look), `estimate` the recorded result. A record of the older procedure has neither `looks` nor a
    confirmation.
    """

    caption: Caption
    search: tuple[float, ...]
    confirm: tuple[float, ...]
    search_means: tuple[float, ...]
    confirm_means: tuple[float, ...]
    looks: tuple[Look, ...] = ()
    confirm_above: float | None = None
    estimate: Estimate | None = None

    @property
    def levels(self) -> tuple[float, ...]:
        """All plotted values and zero, from which the range of the axis is computed."""
        bounds = [value for look in self.looks for value in (look.keep, look.futile)]
        above = [] if self.confirm_above is None else [self.confirm_above]
        estimate = [self.estimate.low_percent, self.estimate.high_percent] if self.estimate else []
        return (0.0, *self.search, *self.confirm, *bounds, *above, *estimate)


def picture_of(
    rounds: Sequence[RoundEffect], plan: Plan, caption: Caption, *, sequential: bool, estimate: Estimate | None
) -> Picture:
    """Return the plot data of `rounds`. `sequential` is False for a record of the older procedure, which had no looks."""
    search, confirm = ([r.objective(plan.weights) for r in rounds if r.session is session] for session in Session)
    return Picture(
        caption=caption,
        search=_percents(search),
        confirm=_percents(confirm),
        search_means=_percents(_running_means(search)),
        confirm_means=_percents(_running_means(confirm)),
        looks=_looks(search, plan) if sequential else (),
        confirm_above=_confirm_above(confirm, plan) if sequential else None,
        estimate=estimate,
    )


def _looks(search: Sequence[float], plan: Plan) -> tuple[Look, ...]:
    """Return the limits at each look that the search has reached, from the standard deviation of the rounds up to it."""
    found = []
    for n in SEARCH.until(min(plan.rounds, len(search))):
        seen = interval(search[:n], SEARCH.at(SEARCH.low, n), SEARCH.at(SEARCH.high, n))
        keep, futile = plan.floor + seen.mean - seen.low, plan.ceiling + seen.mean - seen.high
        found.append(Look(rounds=n, keep=percent(keep), futile=percent(futile)))
    return tuple(found)


def _confirm_above(confirm: Sequence[float], plan: Plan) -> float | None:
    pairs = len(confirm) // CONFIRM_MERGES
    if pairs < CONFIRM.looks[0]:
        return None
    critical = CONFIRM.at(CONFIRM.low, pairs)
    seen = interval(confirm, critical, critical, CONFIRM_MERGES)
    return percent(plan.floor + seen.mean - seen.low)


def _running_means(values: Sequence[float]) -> list[float]:
    return [math.fsum(values[:n]) / n for n in range(1, len(values) + 1)]


def _percents(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(percent(value) for value in values)
