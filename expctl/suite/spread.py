"""Times of one repetition: mean and spread of the calls after the warm-ups, and what a large spread comes from.

The first call is never counted: it compiles, loads and fills caches. It is kept apart, because how long it takes is a fact too.
"""

import math
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

SD_SHARE_MAX = 0.10
TREND = 0.7
OUTLIER = 1.5
OUTLIERS_MOST = 0.1
GROUP_LEAST = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Figures of one repetition, a process of its own; all times in us. `calls` are those that count. `causes` say what a
    standard deviation above 10 % of the mean may come from; empty for a smaller one.
    """

    calls: int
    first_us: float
    mean_us: float
    sd_us: float
    median_us: float
    p90_us: float
    p99_us: float
    causes: str = ""


def spread_of(times_us: Sequence[float], warmups: int) -> Spread:
    """Return the figures of all calls of a process, in order, of which the first `warmups` don't count; two at least must be
    left. Quantiles are interpolated between neighbours, as numpy does.
    """
    counted = times_us[warmups:]
    mean, sd = statistics.fmean(counted), statistics.stdev(counted)
    at = statistics.quantiles(counted, n=100, method="inclusive")
    return Spread(
        calls=len(counted),
        first_us=times_us[0],
        mean_us=mean,
        sd_us=sd,
        median_us=statistics.median(counted),
        p90_us=at[89],
        p99_us=at[98],
        causes=_causes(counted) if sd > SD_SHARE_MAX * mean else "",
    )


def _causes(counted: Sequence[float]) -> str:
    """Return the likely causes of a large spread, told by its form."""
    middle, trend = statistics.median(counted), _trend(counted)
    slow = [each for each in counted if each > OUTLIER * middle]
    rest = [each for each in counted if each <= OUTLIER * middle]
    is_few = slow and len(slow) <= math.ceil(OUTLIERS_MOST * len(counted))
    if is_few and statistics.stdev(rest) <= SD_SHARE_MAX * statistics.fmean(rest):
        return (
            f"{len(slow)} of {len(counted)} calls took over {OUTLIER:g} times the median: another process, an interrupt, or a "
            "recompilation in the middle of the run (TORCH_LOGS=recompiles,graph_breaks shows it)"
        )
    if trend < -TREND:
        return "the calls get faster: too few warm-ups (something still compiles, tunes or fills a cache), or a rising clock"
    if trend > TREND:
        return "the calls get slower: heat or a power limit lowers the clock, or memory fills up"
    if (groups := _groups(counted)) is not None:
        low, high = groups
        return (
            f"two speeds, about {statistics.median(low):.4g} and {statistics.median(high):.4g} us: two clocks, unlike cores, "
            "placement of memory, or two paths of code (a graph break, a shape that is recompiled)"
        )
    return "all calls differ: other work on the machine, clocks that are not held, or inputs whose work differs"


def _trend(counted: Sequence[float]) -> float:
    """Return Spearman's rank correlation of the times with their order, -1 (each faster than the one before) to 1."""
    ordered = sorted(counted)
    ranks = [bisect_left(ordered, each) + bisect_right(ordered, each) for each in counted]  # equal times share a rank
    return statistics.correlation(range(len(counted)), ranks)


def _groups(counted: Sequence[float]) -> tuple[Sequence[float], Sequence[float]] | None:
    """Split the times at their largest gap; None unless both groups have a fifth of the calls, and lie further apart than
    either is wide.
    """
    ordered = sorted(counted)
    least = max(2, math.ceil(GROUP_LEAST * len(ordered)))
    cut = max(range(least, len(ordered) - least + 1), key=lambda at: ordered[at] - ordered[at - 1])
    low, high = ordered[:cut], ordered[cut:]
    return (low, high) if high[0] - low[-1] > max(low[-1] - low[0], high[-1] - high[0]) else None
