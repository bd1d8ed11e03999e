"""Collects dispatches in bulk: durations by launch, busy time by device. Made for a million rows in plain Python."""

import math
from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import gt, lt, sub

LAUNCH_GAP_MOST_NS = 100_000
"""A queue that is fed steadily leaves microseconds between kernels; a tenth of a millisecond is the host's doing."""


@dataclass(slots=True)
class Tally:
    """Times by key of a launch and by device. A dispatch that ends before it begins is counted in `impossible` and left out."""

    durations: dict[Hashable, list[int]] = field(default_factory=dict)
    starts: dict[str, "array[int]"] = field(default_factory=dict)
    ends: dict[str, "array[int]"] = field(default_factory=dict)
    impossible: int = 0

    def add(self, device: str, keys: Sequence[Hashable], starts: Sequence[int], ends: Sequence[int]) -> None:
        """Take dispatches of one device, in file order. Raises TypeError or OverflowError where a time is no 64-bit integer."""
        if any(map(lt, ends, starts)):
            possible = [row for row in zip(keys, starts, ends, strict=True) if row[2] >= row[1]]
            self.impossible += len(keys) - len(possible)
            if not possible:
                return
            keys, starts, ends = zip(*possible, strict=True)
        self.starts.setdefault(device, array("q")).extend(starts)
        self.ends.setdefault(device, array("q")).extend(ends)
        durations = self.durations
        for key, duration in zip(keys, map(sub, ends, starts), strict=True):
            try:
                durations[key].append(duration)
            except KeyError:
                durations[key] = [duration]

    def one(self, device: str, key: Hashable, start: int, end: int) -> None:
        """Take one dispatch."""
        self.add(device, (key,), (start,), (end,))

    def alone(self, key: Hashable, duration: int) -> None:
        """Take one dispatch that ran by itself: a replay or a counted one, whose place in time means nothing."""
        if duration < 0:
            self.impossible += 1
        else:
            self.durations.setdefault(key, []).append(duration)


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupied:
    """The union of a device's dispatches."""

    span_ns: int
    busy_ns: int
    gaps: int
    launch_gaps: int
    launch_gap_ns: int
    longest_gap_ns: int


def occupied(starts: Sequence[int], ends: Sequence[int]) -> Occupied:
    """Busy time and gaps of intervals in any order."""
    if any(map(gt, starts, islice(starts, 1, None))):
        order = sorted(range(len(starts)), key=starts.__getitem__)
        starts, ends = [starts[i] for i in order], [ends[i] for i in order]
    apart = list(map(sub, islice(starts, 1, None), ends))
    if apart and min(apart) < 0:
        apart = _apart(starts, ends)
    last = max(ends)
    gaps = [gap for gap in apart if gap > 0]
    short = [gap for gap in gaps if gap <= LAUNCH_GAP_MOST_NS]
    return Occupied(
        span_ns=last - starts[0],
        busy_ns=last - starts[0] - sum(gaps),
        gaps=len(gaps),
        launch_gaps=len(short),
        launch_gap_ns=sum(short),
        longest_gap_ns=max(gaps, default=0),
    )


def _apart(starts: Sequence[int], ends: Sequence[int]) -> list[int]:
    """Time from the end of everything before to each start, where kernels overlap."""
    found = []
    reached = ends[0]
    for start, end in zip(starts, ends, strict=True):
        if start > reached:
            found.append(start - reached)
        if end > reached:
            reached = end
    return found


def median(ordered: Sequence[int]) -> float:
    """The middle of ascending values, or the mean of the two in the middle."""
    half = len(ordered) // 2
    return float(ordered[half]) if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def sample_deviation(values: Sequence[int], total: int) -> float | None:
    """Divided by n - 1; None for fewer than two."""
    n = len(values)
    if n < 2:
        return None
    return math.dist(values, (total / n,) * n) / math.sqrt(n - 1)
