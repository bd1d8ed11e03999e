"""Estimates how many rounds and minutes an undecided experiment still needs, and the chance that these decide it."""

import math
import statistics
from collections.abc import Iterator, Sequence

from msgspec import Struct

from expctl.domain.protocol.boundaries import CONFIRM, CONFIRM_MERGES, CONFIRM_ROUNDS, EXTENDED_ROUNDS, SEARCH
from expctl.domain.verdict.evidence import OBJECTIVE, Evidence, limit_text
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.statistics import percent, t95

CHANCE = 0.9  # of a decision by the quoted rounds, with room above the 80 % that should hold: it is an estimate
ENOUGH = 0.8  # a smaller chance is not a price but a warning
TINY = 1e-12  # in place of an error of zero
GRID = tuple(i / 8 for i in range(-24, 25))  # true effects to average over, in standard errors of today's mean


class Look(Struct, frozen=True, kw_only=True):
    """A look after `n` values (rounds of a search, pairs of a confirmation), and the chances that its interval lies above what
    a KEEP must exceed, or below the smallest worthwhile effect.
    """

    n: int
    keeps: float
    rejects: float


class Offer(Struct, frozen=True, kw_only=True):
    """A way to continue an undecided experiment: `rounds` more rounds at most, and the `chance` (0..1) that they decide it."""

    rounds: int = 0
    chance: float = 0.0


def price_of(seen: Evidence, rounds: Sequence[RoundEffect], session: Session, name: str) -> tuple[str, ...]:
    """Say why `seen` is undecided about `name` (`objective` or a size), and how many more rounds would likely decide.

    The prediction takes the true effect as normally distributed about the mean so far, with its standard error, and further
    rounds as normal about the true effect. The standard deviation is the measured or the calibrated one, whichever is larger.
    For a search, the rounds of the confirmation that may follow are included.
    """
    words = f"{name} {seen.describe(name)} is {_open_between(seen, name)}: {_price(best_offer(seen, session, name), rounds)}"
    return (words, *_unguarded_words(seen))


def best_offer(seen: Evidence, session: Session, name: str = OBJECTIVE) -> Offer:
    """Return the fewest further rounds that decide with a chance of 90 %; if none do, the number with the best chance."""
    offers = Forecast(seen, name).offers(session)
    return max(offers, key=lambda offer: (min(offer.chance, CHANCE), -offer.rounds), default=Offer())


def _price(offer: Offer, rounds: Sequence[RoundEffect]) -> str:
    chance = f"{math.floor(100 * min(offer.chance, 0.95))} %"
    if offer.chance < ENOUGH:
        return f"not even {EXTENDED_ROUNDS} rounds, the most there are, would surely decide (chance {chance})"
    minutes = offer.rounds * statistics.median(each.duration_s for each in rounds) / 60
    took = f" (about {math.ceil(minutes)} minute{'s' if minutes > 1 else ''})" if minutes else ""
    return f"up to {offer.rounds} more rounds{took} decide with a chance of {chance}"


def _open_between(seen: Evidence, name: str) -> str:
    rescuer = "" if name == OBJECTIVE else name
    floor, ceiling = limit_text(seen.plan.floor_of(rescuer)), limit_text(seen.plan.ceiling)
    if seen.gains(rescuer):
        return f"above {floor}, but not every size holds its guard"
    if seen.futile(name):
        return f"below {ceiling}, but not surely every rescuer ({', '.join(seen.plan.rescuers)})"
    return f"neither surely above {floor} nor below {ceiling}"


def _unguarded_words(seen: Evidence) -> tuple[str, ...]:
    guard = f"may fall below {limit_text(-seen.plan.guard)}"
    return tuple(f"{size} {percent(seen.sizes[size].mean):+.2f} % {guard}" for size in seen.unguarded())


class Forecast:
    """Computes the chances that further rounds decide about `name` (`objective` or a size), from the evidence `seen` so far."""

    def __init__(self, seen: Evidence, name: str) -> None:
        self._seen, self._name = seen, name
        self._floor = seen.plan.floor_of("" if name == OBJECTIVE else name)

    def offers(self, session: Session) -> Iterator[Offer]:
        """Yield every number of further rounds after which the run may end, with the chance that it is then decided."""
        truths, n = self.likely_effects(), self._seen.n
        for pairs in CONFIRM.looks:
            if not CONFIRM_ROUNDS <= pairs * CONFIRM_MERGES <= EXTENDED_ROUNDS:
                continue
            if session is Session.CONFIRM:
                if pairs > n:
                    chance = math.fsum(weight * self._confirm_decides(truth, pairs, done=n) for truth, weight in truths)
                    yield Offer(rounds=CONFIRM_MERGES * (pairs - n), chance=chance)
                continue
            for look in SEARCH.looks:
                if look > n:
                    chance = math.fsum(weight * self._search_decides(truth, look, pairs) for truth, weight in truths)
                    yield Offer(rounds=look - n + CONFIRM_MERGES * pairs, chance=chance)

    def likely_effects(self) -> list[tuple[float, float]]:
        """Return true effects (log units) up to 3 standard errors from the mean so far, with weights that sum to 1."""
        mean, error = self._seen.intervals[self._name].mean, self._sd(self._name) / math.sqrt(self._seen.n)
        weights = [math.exp(-z * z / 2) for z in GRID]
        return [(mean + z * error, weight / math.fsum(weights)) for z, weight in zip(GRID, weights, strict=True)]

    def _search_decides(self, truth: float, n: int, pairs: int) -> float:
        """Return the chance that a search of `n` rounds rejects, or finds a gain and a confirmation then decides. `truth` is
        the assumed true effect in log units; the confirmation has `pairs` pairs of rounds.
        """
        look = self._search_look(truth, n)
        return look.rejects + look.keeps * self._confirm_decides(truth, pairs, done=0)

    def _confirm_decides(self, truth: float, pairs: int, done: int) -> float:
        look = self._confirm_look(truth, pairs, done)
        return look.keeps + look.rejects

    def search_looks(self, truth: float, looks: Sequence[int]) -> list[Look]:
        """Return the chances at each of `looks` of a search, if `truth` (log units) is the true effect."""
        return [self._search_look(truth, n) for n in looks]

    def confirm_looks(self, truth: float, looks: Sequence[int], *, done: int) -> list[Look]:
        """Return the chances at each of `looks` (pairs of rounds) of a confirmation of which `done` pairs are measured."""
        return [self._confirm_look(truth, pairs, done) for pairs in looks]

    def _search_look(self, truth: float, n: int) -> Look:
        low, high = SEARCH.at(SEARCH.low, n), SEARCH.at(SEARCH.high, n)
        keeps, rejects = self._ends(truth, n, self._seen.n, low, high, self._sd(self._name))
        guards = math.prod(self._holds_guard(size, n) for size in self._seen.unguarded())
        rescuers = math.prod(self._falls_below(size, n, high) for size in self._seen.plan.rescuers)
        return Look(n=n, keeps=keeps * guards, rejects=rejects * rescuers)

    def _confirm_look(self, truth: float, pairs: int, done: int) -> Look:
        sd = self._sd(self._name) * (1 if done else 1 / math.sqrt(CONFIRM_MERGES))
        keeps, rejects = self._ends(truth, pairs, done, CONFIRM.at(CONFIRM.low, pairs), CONFIRM.at(CONFIRM.high, pairs), sd)
        return Look(n=pairs, keeps=keeps, rejects=rejects)

    def _ends(self, truth: float, n: int, done: int, low: float, high: float, sd: float) -> tuple[float, float]:
        """Return the chances that the interval of `n` values lies above the plan's floor, and that it lies below its ceiling.
        `truth` is the assumed true effect, `done` the number of values measured so far; `low` and `high` are critical values.
        """
        mean = (done * self._seen.intervals[self._name].mean + (n - done) * truth) / n
        error = max(sd * math.sqrt(n - done) / n, TINY)
        above, below = self._floor + low * sd / math.sqrt(n), self._seen.plan.ceiling - high * sd / math.sqrt(n)
        keeps = _normal((mean - above) / error)
        return keeps, min(1 - keeps, _normal((below - mean) / error))

    def _holds_guard(self, size: str, n: int) -> float:
        room = self._seen.sizes[size].mean + self._seen.plan.guard - t95(n) * self._sd(size) / math.sqrt(n)
        return _normal(room / self._error(size, n))

    def _falls_below(self, size: str, n: int, high: float) -> float:
        room = self._seen.plan.ceiling - high * self._sd(size) / math.sqrt(n) - self._seen.sizes[size].mean
        return _normal(room / self._error(size, n))

    def _error(self, size: str, n: int) -> float:
        """Return the standard deviation of the difference between the mean of `n` values and the mean so far."""
        return max(self._sd(size) * math.sqrt(1 / self._seen.n - 1 / n), TINY)

    def _sd(self, name: str) -> float:
        """Return the standard deviation of one value: the measured or the calibrated one, whichever is larger."""
        found, calibrated = self._seen.intervals[name], self._seen.plan.calibrated
        return max(found.sd, (calibrated.sd(name) if calibrated else 0.0) / math.sqrt(found.merged))


def _normal(z: float) -> float:
    """Return the distribution function of the standard normal distribution at `z`."""
    return 0.5 * math.erfc(-z / math.sqrt(2))
