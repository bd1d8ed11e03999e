"""Repetitions of one measurement in a result file, and the one time that they come to.

One row is taken as it is; of two the mean if they lie within 5 %; of three or more the mean of the first three if those lie
within 5 %, else of the closest pair of the first five if that does; else they are unstable. Within 5 % means
(max - min) / min <= 0.05. Of pairs equally close the faster one. Rows after the fifth never count, and a remark says so.

A remark also flags rows (those that count, five at most) whose standard deviation (n - 1) is above 10 % of their mean.
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
    """One side of a case. `time_us` is None when its rows are unstable, `sd_us` when there is but one.

    `longest_us` is the time, or the longest that counts where there is no one time.
    """

    time_us: float | None
    rows: int
    sd_us: float | None
    longest_us: float
    remarks: tuple[str, ...]


def timing_of(times: Sequence[float]) -> Timing | None:
    """What the repetitions `times` in us, in the order of the file, come to; None for none."""
    if not times:
        return None
    if len(times) == 1:
        return Timing(time_us=times[0], rows=1, sd_us=None, longest_us=times[0], remarks=())
    counted = times[:ROWS_COUNTED]
    taken, remark = _taken(counted)
    time_us = _mean(taken) if taken else None
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
    """`one > other`, where a tie of the decimals in a file is a tie: in binary 1.005 * 100 + 0.5 falls one bit short of 101."""
    return one > other * (1 + TIE)


def _taken(counted: Sequence[float]) -> tuple[Sequence[float], str]:
    """Which of two to five times are averaged (none: unstable), and a remark unless it is the plain case."""
    first = counted[:ROWS_AVERAGED]
    if _is_close(first):
        return first, ""
    ordered = sorted(counted)
    # The closest pair is a neighbouring one.
    pair = min(pairwise(ordered), key=lambda each: each[1] / each[0])
    if _is_close(pair):
        return pair, f"closest pair of {len(counted)} rows"
    apart = 100 * (pair[1] / pair[0] - 1)
    return (), f"{len(counted)} rows, the closest two are {apart:.1f} % apart"


def _is_close(times: Sequence[float]) -> bool:
    return not is_above(max(times), (1 + SPREAD_MAX) * min(times))


def _mean(times: Sequence[float]) -> float:
    return math.fsum(times) / len(times)
