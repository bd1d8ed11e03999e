"""Plot data of an experiment: the objective of every round and the boundaries of its mean. Pure.

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
    """The experiment that a plot shows, and its outcome or current state. Untrusted text."""

    id: str
    title: str
    target: str
    outcome: str
    reason: str


class Look(Struct, frozen=True, kw_only=True):
    """Boundaries after `rounds` rounds of the search: a mean above `keep` starts a confirmation, one below `futile` rejects."""

    rounds: int
    keep: float
    futile: float


class Picture(Struct, frozen=True, kw_only=True):
    """Plot data of one experiment, in percent: its rounds by session, and the running mean of each session.

    `confirm_above` is what the mean of the confirmation must exceed, None before its first look; `estimate` is the recorded one
    of the objective. A record of an older procedure has neither looks nor a confirmation.
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
        """All plotted values and zero, so that an axis can hold them."""
        bounds = [value for look in self.looks for value in (look.keep, look.futile)]
        above = [] if self.confirm_above is None else [self.confirm_above]
        estimate = [self.estimate.low_percent, self.estimate.high_percent] if self.estimate else []
        return (0.0, *self.search, *self.confirm, *bounds, *above, *estimate)


def picture_of(
    rounds: Sequence[RoundEffect], plan: Plan, caption: Caption, *, sequential: bool, estimate: Estimate | None
) -> Picture:
    """Return the plot data of `rounds`. `sequential` is False for an older procedure, which took no looks."""
    search, confirm = (_objectives(rounds, plan, session) for session in Session)
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


def _objectives(rounds: Sequence[RoundEffect], plan: Plan, session: Session) -> list[float]:
    return [math.fsum(w * each.effect[s] for s, w in plan.weights.items()) for each in rounds if each.session is session]


def _looks(search: Sequence[float], plan: Plan) -> tuple[Look, ...]:
    """Return the boundaries of each look that the search has reached, by the sd of the rounds until then."""
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
