"""Exact tests of counts: the probability that chance alone gives counts as uneven as these."""

import math

UNLIKELY = 0.05
BISECTIONS = 40


def binomial_tail(hits: int, trials: int) -> float:
    """Return the probability of at least `hits` heads in `trials` throws of a fair coin."""
    ways: int = sum(math.comb(trials, k) for k in range(hits, trials + 1))
    return ways / (1 << trials)


def fisher_tail(hits: int, of: int, others: int, of_others: int) -> float:
    """Return the one-sided p of Fisher's exact test: is `hits` / `of` a larger share than `others` / `of_others`?"""
    drawn = hits + others
    ways = _ln_comb(of + of_others, drawn)
    return math.fsum(math.exp(_ln_comb(of, k) + _ln_comb(of_others, drawn - k) - ways) for k in range(hits, min(of, drawn) + 1))


def most_share(hits: int, trials: int) -> float:
    """Return the one-sided 95 % upper bound of a share of which `hits` of `trials` were seen (Clopper and Pearson, 1934).

    It is the share p with P(X <= hits) = 5 % for X binomial; 1 where every trial hit or there was none.
    """
    if hits >= trials:
        return 1.0
    low, high = hits / trials, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        below = math.fsum(math.comb(trials, k) * middle**k * (1 - middle) ** (trials - k) for k in range(hits + 1))
        low, high = (middle, high) if below > UNLIKELY else (low, middle)
    return high


def _ln_comb(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
