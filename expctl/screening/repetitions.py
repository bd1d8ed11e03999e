"""Reduce repetitions of one measurement, which are rows of a result file, to one time.

One row is used as it is. Two are averaged if they agree, i.e. (max - min) / min <= 0.05. Of three or more, the first three are
averaged if they agree, else the closest pair of the first five if that agrees (of equally close pairs the faster); else the
rows are unstable. Rows after the fifth never count. A remark says so, and another one if the standard deviation (n - 1) of the
rows that count is above 10 % of their mean.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

SPREAD_MAX = 0.05
ROWS_AVERAGED = 3
ROWS_COUNTED = 5
SD_SHARE_MAX = 0.10
TIE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The time of one kernel and shape in one file, from its `rows` repetitions; `time_us` is None if these disagree. `sd_us`
    is their standard deviation, None for one row. `longest_us` is `time_us`, or if that is None the longest repetition.
    """

    time_us: float | None
    rows: int
    sd_us: float | None
    longest_us: float
    remarks: tuple[str, ...]


def timing_of(times: Sequence[float]) -> Timing | None:
    """Return the time of one kernel and shape, given its repetitions (us); None if there are none. It is the mean of the first
    three if they agree within 5 %, else of the closest two of the first five.
    """
    if not times:
        return None
    if len(times) == 1:
        return Timing(time_us=times[0], rows=1, sd_us=None, longest_us=times[0], remarks=())
    counted = times[:ROWS_COUNTED]
    averaged, remark = _averaged(counted)
    time_us = _mean(averaged) if averaged else None
    mean = _mean(counted)
    sd = math.sqrt(math.fsum((time - mean) ** 2 for time in counted) / (len(counted) - 1))
    remarks = [remark] if remark else []
    if len(times) > len(counted):
        remarks.append(f"{len(times)} rows, only the first {ROWS_COUNTED} count")
    if sd > SD_SHARE_MAX * mean:
        remarks.append(f"sd {100 * sd / mean:.1f} % of the mean")
    longest_us = time_us if time_us is not None else max(counted)
    return Timing(time_us=time_us, rows=len(times), sd_us=sd, longest_us=longest_us, remarks=tuple(remarks))


def is_above(one: float, other: float) -> bool:
    """Return whether `one` > `other` by more than a rounding error (1e-12 of `other`)."""
    return one > other * (1 + TIE)


def _averaged(counted: Sequence[float]) -> tuple[Sequence[float], str]:
    """Return which of two to five times to average (none if they disagree), and a remark unless it is the first three."""
    first = counted[:ROWS_AVERAGED]
    if _is_close(first):
        return first, ""
    ordered = sorted(counted)
    # The closest pair is adjacent in sorted order.
    pair = min(pairwise(ordered), key=lambda each: each[1] / each[0])
    if _is_close(pair):
        return pair, f"closest pair of {len(counted)} rows"
    apart = 100 * (pair[1] / pair[0] - 1)
    return (), f"{len(counted)} rows, the closest two are {apart:.1f} % apart"


def _is_close(times: Sequence[float]) -> bool:
    return not is_above(max(times), (1 + SPREAD_MAX) * min(times))


def _mean(times: Sequence[float]) -> float:
    return math.fsum(times) / len(times)
