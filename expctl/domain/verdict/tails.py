"""How single iterations scatter: mean and quantiles of each side, and whether one side's tail is clearly heavier. Pure.

The effect of a round is made of medians, on which rare slow iterations have no influence. See docs/METHODOLOGY.md, "Tails".
"""

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from expctl.domain.experiment.record import Times
from expctl.domain.verdict.exact_tests import binomial_tail, fisher_tail
from expctl.domain.verdict.samples import Sample, Side

SLOW = 1.3  # times the median of the side in its round: an iteration of the tail
SHARE_LEAST = 0.005  # by which the shares of slow iterations differ at least
ITERATIONS_CHANCE = 0.001  # of Fisher's exact test on iterations ...
ROUNDS_CHANCE = 0.05  # ... and of the sign test on rounds, because slow iterations come in spells


class _Tail(Struct, frozen=True, kw_only=True):
    """The slow iterations of one side at one size: `slow` out of `of` iterations, and their share by round."""

    slow: int
    of: int
    shares: dict[int, float]

    @property
    def share(self) -> float:
        return self.slow / self.of


def times_of(samples: Iterable[Sample], *, side: Side, size: str) -> Times:
    """Return mean and quantiles of the iterations of `side` at `size`, over all samples without foreign load (at least one)."""
    times = sorted(_iterations(samples, side, size))
    median = statistics.median(times)
    return Times(
        mean_ns=round(statistics.fmean(times), 1),
        p90=round(_quantile(times, 0.9) / median, 4),
        p99=round(_quantile(times, 0.99) / median, 4),
    )


def heavier_tails(samples: Sequence[Sample], sizes: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each size at which one side's tail (slow iterations) is clearly heavier: which side, how much.

    An iteration belongs to the tail if it takes over 1.3 times the median of its side in its round. A tail is clearly heavier
    if it has a share of the iterations that is larger by half a percent and significantly so (Fisher's exact test, .1 %), and
    is larger in significantly more rounds than it is smaller (sign test, 5 %), so that one short disturbance can't be the
    cause.
    """
    found = []
    for size in sizes:
        tails = {side: _tail(samples, side, size) for side in Side}
        for side, other in (tuple(Side), tuple(Side)[::-1]):
            if _is_heavier(tails[side], tails[other]):
                found.append(
                    f"{size}: the {side}'s tail is heavier: {100 * tails[side].share:.2g} % of its iterations take over {SLOW} "
                    f"times their median, {100 * tails[other].share:.2g} % of the {other}'s"
                )
    return tuple(found)


def _is_heavier(mine: _Tail, other: _Tail) -> bool:
    if mine.share - other.share < SHARE_LEAST:
        return False
    more = sum(share > other.shares[index] for index, share in mine.shares.items())
    fewer = sum(share < other.shares[index] for index, share in mine.shares.items())
    by_rounds = binomial_tail(more, more + fewer)
    return by_rounds <= ROUNDS_CHANCE and fisher_tail(mine.slow, mine.of, other.slow, other.of) <= ITERATIONS_CHANCE


def _tail(samples: Sequence[Sample], side: Side, size: str) -> _Tail:
    slow = of = 0
    shares: dict[int, float] = {}
    for index in sorted({sample.round for sample in samples if not sample.taints}):
        times = list(_iterations((sample for sample in samples if sample.round == index), side, size))
        limit = SLOW * statistics.median(times)
        beyond = sum(ns > limit for ns in times)
        slow, of, shares[index] = slow + beyond, of + len(times), beyond / len(times)
    return _Tail(slow=slow, of=of, shares=shares)


def _iterations(samples: Iterable[Sample], side: Side, size: str) -> Iterator[int]:
    return (ns for each in samples if each.side is side and each.size == size and not each.taints for ns in each.ns)


def _quantile(times: Sequence[int], share: float) -> int:
    """Return the smallest of the sorted `times` such that at least `share` of them are not above it."""
    return times[math.ceil(share * len(times)) - 1]
