"""Exact tests of counts: how likely is it by chance that so many of them fall on one side?"""

from math import comb


def binomial_tail(hits: int, trials: int) -> float:
    """Return the probability of at least `hits` heads in `trials` throws of a fair coin."""
    ways: int = sum(comb(trials, k) for k in range(hits, trials + 1))
    return ways / (1 << trials)


def fisher_tail(hits: int, of: int, others: int, of_others: int) -> float:
    """Return the one-sided p of Fisher's exact test that `hits` of `of` is a larger share than `others` of `of_others`."""
    drawn = hits + others
    ways = sum(comb(of, k) * comb(of_others, drawn - k) for k in range(hits, min(of, drawn) + 1))
    return ways / comb(of + of_others, drawn)
