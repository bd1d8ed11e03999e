"""Estimates how many rounds and minutes an undecided experiment still needs, and its chance to be decided by then."""

import math
import statistics
from collections.abc import Iterator, Sequence

from msgspec import Struct

from expctl.domain.protocol.boundaries import CONFIRM, CONFIRM_MERGES, CONFIRM_ROUNDS, EXTENDED_ROUNDS, SEARCH
from expctl.domain.verdict.evidence import OBJECTIVE, Evidence
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.statistics import percent, t95

CHANCE = (
    0.9  # of a decision by the quoted rounds: an estimate from few rounds needs some room above the 80 % that it should hold
)
GRID = tuple(i / 8 for i in range(-24, 25))  # true effects to average over, in standard errors of today's mean
HARDLY = 0.5  # a smaller chance than this is not quoted


class Offer(Struct, frozen=True, kw_only=True):
    """A way to go on: up to `rounds` more rounds, and the chance that they decide."""

    rounds: int = 0
    chance: float = 0.0

    @property
    def hopeless(self) -> bool:
        """Would even the most rounds there are hardly decide?"""
        return self.chance < HARDLY


def price_of(seen: Evidence, rounds: Sequence[RoundEffect], session: Session) -> tuple[str, ...]:
    """Say why `seen` is undecided, and what it costs to go on: the cheapest rounds that decide with a chance of .9.

    Predicts from today's mean and sd (the larger of the measured and the calibrated one): the true effect is normal about
    today's mean with its standard error, and further rounds are normal about the truth. A search that finds a gain goes
    on with a confirmation, whose rounds count.
    """
    words = [f"objective {seen.describe(OBJECTIVE)} is {_open_between(seen)}: {_price(best_offer(seen, session), rounds)}"]
    return (*words, *_unguarded_words(seen))


def best_offer(seen: Evidence, session: Session) -> Offer:
    """Return the offer that `price_of` words: the cheapest with enough of a chance, else the one with the best chance."""
    return max(_offers(seen, session), key=lambda offer: (min(offer.chance, CHANCE), -offer.rounds), default=Offer())


def _price(offer: Offer, rounds: Sequence[RoundEffect]) -> str:
    minutes = offer.rounds * statistics.median(each.duration_s for each in rounds) / 60
    took = f" (about {math.ceil(minutes)} minute{'s' if minutes > 1 else ''})" if minutes else ""
    if offer.hopeless:
        return f"{EXTENDED_ROUNDS} rounds, the most there are, would hardly decide"
    return f"up to {offer.rounds} more rounds{took} decide with a chance of {100 * min(offer.chance, 0.95):.0f} %"


def _open_between(seen: Evidence) -> str:
    floor, ceiling = (f"{100 * limit:+.1f} %" for limit in (seen.plan.floor, seen.plan.ceiling))
    if seen.gains():
        return f"above {floor}, but not every size holds its guard"
    if seen.objective.high < seen.plan.ceiling:
        return f"below {ceiling}, but not surely every rescuer ({', '.join(seen.plan.rescuers)})"
    return f"neither surely above {floor} nor below {ceiling}"


def _unguarded_words(seen: Evidence) -> tuple[str, ...]:
    guard = f"may fall below {-100 * seen.plan.guard:.1f} %"
    return tuple(f"{size} {percent(seen.sizes[size].mean):+.2f} % {guard}" for size in seen.unguarded())


def _offers(seen: Evidence, session: Session) -> Iterator[Offer]:
    """Yield each way to go on."""
    truths = _likely_effects(seen)
    for pairs in CONFIRM.looks:
        if not CONFIRM_ROUNDS <= pairs * CONFIRM_MERGES <= EXTENDED_ROUNDS:
            continue
        if session is Session.CONFIRM:
            if pairs > seen.n:
                chance = math.fsum(weight * _confirm_decides(seen, truth, pairs, seen.n) for truth, weight in truths)
                yield Offer(rounds=CONFIRM_MERGES * (pairs - seen.n), chance=chance)
            continue
        for n in SEARCH.looks:
            if n > seen.n:
                chance = math.fsum(weight * _search_decides(seen, truth, n, pairs) for truth, weight in truths)
                yield Offer(rounds=n - seen.n + CONFIRM_MERGES * pairs, chance=chance)


def _likely_effects(seen: Evidence) -> list[tuple[float, float]]:
    """Return true effects that today's mean leaves likely, each with its weight; the weights add up to one."""
    error = _sd(seen) / math.sqrt(seen.n)
    weights = [math.exp(-z * z / 2) for z in GRID]
    return [(seen.objective.mean + z * error, weight / math.fsum(weights)) for z, weight in zip(GRID, weights, strict=True)]


def _search_decides(seen: Evidence, truth: float, n: int, pairs: int) -> float:
    """The chance that a search of `n` rounds rejects, or finds a gain that `pairs` pairs of rounds then decide about."""
    keeps, rejects = _ends(seen, truth, n, seen.n, SEARCH.at(SEARCH.low, n), SEARCH.at(SEARCH.high, n), _sd(seen))
    guards = math.prod(_guard_holds(seen, size, n) for size in seen.unguarded())
    return rejects + keeps * guards * _confirm_decides(seen, truth, pairs, 0)


def _confirm_decides(seen: Evidence, truth: float, pairs: int, done: int) -> float:
    sd = _sd(seen) * (1 if done else 1 / math.sqrt(CONFIRM_MERGES))
    low, high = CONFIRM.at(CONFIRM.low, pairs), CONFIRM.at(CONFIRM.high, pairs)
    return min(1.0, sum(_ends(seen, truth, pairs, done, low, high, sd)))


def _ends(seen: Evidence, truth: float, n: int, done: int, low: float, high: float, sd: float) -> tuple[float, float]:
    """The chances that the interval of n values, `done` of them measured, then lies above the floor, or below the ceiling."""
    mean = (done * seen.objective.mean + (n - done) * truth) / n
    error = max(sd * math.sqrt(n - done) / n, 1e-12)
    above, below = seen.plan.floor + low * sd / math.sqrt(n), seen.plan.ceiling - high * sd / math.sqrt(n)
    keeps = _normal((mean - above) / error)
    return keeps, min(1 - keeps, _normal((below - mean) / error))


def _guard_holds(seen: Evidence, size: str, n: int) -> float:
    found = seen.sizes[size]
    error = math.sqrt(1 / seen.n - 1 / n) * found.sd
    return _normal((found.mean + seen.plan.guard - t95(n) * found.sd / math.sqrt(n)) / max(error, 1e-12))


def _sd(seen: Evidence) -> float:
    """The standard deviation of one effect of the objective: the larger of the measured and the calibrated one."""
    calibrated = seen.plan.calibrated
    return max(seen.objective.sd, (calibrated.sd(OBJECTIVE) if calibrated else 0.0) / math.sqrt(seen.objective.merged))


def _normal(z: float) -> float:
    """The distribution function of the standard normal."""
    return 0.5 * math.erfc(-z / math.sqrt(2))
