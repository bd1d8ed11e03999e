"""Groups of alike values: the natural breaks of sorted numbers, and how clearly they are apart. Pure."""

import math
import statistics
from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate, pairwise

CHUNKS = 64  # of neighbouring values that stay together, so that many values cost no more than few
QUARTILES = 1.349  # distance of the quartiles of a normal distribution, in standard deviations


def natural_breaks(values: Sequence[float], groups: int) -> tuple[float, ...]:
    """Return the limits between `groups` groups of the values, each midway between the medians of two neighbours.

    The groups have the least sum of squares about their means (W. D. Fisher, "On grouping for maximum homogeneity", J. Am.
    Stat. Assoc. 53, 1958; also known as Jenks' natural breaks). Raises ValueError for fewer values than groups.
    """
    ordered = sorted(values)
    chunks = min(CHUNKS, len(ordered))
    if chunks < groups:
        raise ValueError(f"{len(ordered)} values make no {groups} groups")
    edges = [index * len(ordered) // chunks for index in range(chunks + 1)]
    ends = [0, *_best_ends(ordered, edges, groups), len(ordered)]
    medians = [statistics.median(ordered[start:end]) for start, end in pairwise(ends)]
    return tuple((lower + upper) / 2 for lower, upper in pairwise(medians))


def separation(lower: Sequence[float], upper: Sequence[float]) -> float:
    """Return the distance of two groups' medians over their spread: Ashman's D with medians and quartiles.

    D = (m2 - m1) / sqrt((s1^2 + s2^2) / 2), m2 that of `upper` (Ashman, Bird and Zepf, Astron. J. 108, 1994), s from the
    distance of the quartiles.
    The halves of a normal distribution have a D of 2.2, those of a uniform one 2.7, those of a sine wave 3.5.
    """
    spread = math.sqrt((_spread(lower) ** 2 + _spread(upper) ** 2) / 2)
    apart = statistics.median(upper) - statistics.median(lower)
    return apart / spread if spread else math.inf


def group_of(value: float, limits: Sequence[float]) -> int:
    """Return the number, from 0, of the group between `limits` that a value belongs to."""
    return bisect(limits, value)


def _best_ends(ordered: Sequence[float], edges: Sequence[int], groups: int) -> tuple[int, ...]:
    """Return where all groups but the last end, by dynamic programming over the edges between chunks."""
    middle = ordered[len(ordered) // 2]  # subtracted, so that squares don't lose digits
    sums = [0.0, *accumulate(value - middle for value in ordered)]
    squares = [0.0, *accumulate((value - middle) ** 2 for value in ordered)]

    def within(start: int, end: int) -> float:
        return squares[end] - squares[start] - (sums[end] - sums[start]) ** 2 / (end - start)

    best: dict[int, tuple[float, tuple[int, ...]]] = {end: (within(0, end), ()) for end in edges[1:]}
    for _ in range(groups - 1):
        best = {
            end: min((cost + within(start, end), (*ends, start)) for start, (cost, ends) in best.items() if start < end)
            for end in edges
            if end > min(best)
        }
    return best[len(ordered)][1]


def _spread(group: Sequence[float]) -> float:
    low, _, high = statistics.quantiles(group, n=4)
    return (high - low) / QUARTILES
