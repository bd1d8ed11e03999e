"""Exact tests of counts: the probability that chance alone gives counts as uneven as these."""

import math


def binomial_tail(hits: int, trials: int) -> float:
    """Return the probability of at least `hits` heads in `trials` throws of a fair coin."""
    ways: int = sum(math.comb(trials, k) for k in range(hits, trials + 1))
    return ways / (1 << trials)


def fisher_tail(hits: int, of: int, others: int, of_others: int) -> float:
    """Return the one-sided p of Fisher's exact test: is `hits` / `of` a larger share than `others` / `of_others`?"""
    drawn = hits + others
    ways = _ln_comb(of + of_others, drawn)
    return math.fsum(math.exp(_ln_comb(of, k) + _ln_comb(of_others, drawn - k) - ways) for k in range(hits, min(of, drawn) + 1))


def _ln_comb(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
