"""Collects dispatches: durations by launch, busy time by device. Made for a million rows in plain Python."""

import math
from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import gt, lt, sub

LAUNCH_GAP_MOST_NS = 100_000
"""A queue that is fed steadily leaves microseconds between kernels; a tenth of a millisecond is the host's doing."""

Entry = tuple[Callable[[int], None], Callable[[int], None], Callable[[int], None]]
"""Takes the duration, the start and the end of one dispatch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """Times between dispatches in which nothing ran."""

    number: int
    total_ns: int
    short: int
    short_ns: int
    longest_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A device's dispatches in order of their starts, summed up while they were read."""

    first: int
    last_start: int
    reached: int
    dispatches: int
    gaps: Gaps

    def then(self, later: "Summary") -> "Summary | None":
        """Both, one after the other; None unless the later one begins after the end of this."""
        between = later.first - self.reached
        if between < 0:
            return None
        parts = (self.gaps, gaps_of((between,)), later.gaps)
        gaps = Gaps(
            number=sum(each.number for each in parts),
            total_ns=sum(each.total_ns for each in parts),
            short=sum(each.short for each in parts),
            short_ns=sum(each.short_ns for each in parts),
            longest_ns=max(each.longest_ns for each in parts),
        )
        both = self.dispatches + later.dispatches
        return Summary(first=self.first, last_start=later.last_start, reached=later.reached, dispatches=both, gaps=gaps)


@dataclass(slots=True)
class Track:
    """The dispatches of one device, in file order, or their summary alone."""

    starts: "array[int]" = field(default_factory=lambda: array("q"))
    ends: "array[int]" = field(default_factory=lambda: array("q"))
    summary: Summary | None = None

    @property
    def dispatches(self) -> int:
        """How many."""
        return self.summary.dispatches if self.summary else len(self.starts)

    def join(self, later: "Track") -> "Track":
        """Both on one device: two processes, two files."""
        return Track(self.starts + later.starts, self.ends + later.ends)

    def without_impossible(self) -> "Track":
        """Only dispatches that end when they begin or later."""
        kept = [(start, end) for start, end in zip(self.starts, self.ends, strict=True) if end >= start]
        return Track(array("q", (start for start, _ in kept)), array("q", (end for _, end in kept)))

    def measured(self) -> tuple[int, Gaps]:
        """From the first start to the last end, and the gaps; overlapping dispatches count once."""
        if self.summary:
            return self.summary.reached - self.summary.first, self.summary.gaps
        starts: Sequence[int] = self.starts
        ends: Sequence[int] = self.ends
        if any(map(gt, starts, islice(starts, 1, None))):
            pairs = sorted(zip(starts, ends, strict=True))
            starts, ends = [start for start, _ in pairs], [end for _, end in pairs]
        apart = list(map(sub, islice(starts, 1, None), ends))
        reached = ends[-1]
        if apart and min(apart) < 0:
            apart, reached = _apart(starts, ends)
        return reached - starts[0], gaps_of(apart)


def _apart(starts: Sequence[int], ends: Sequence[int]) -> tuple[list[int], int]:
    """Times from the end of everything before to each start, where dispatches overlap; and the last end."""
    found = []
    reached = ends[0]
    for start, end in zip(starts, ends, strict=True):
        if start > reached:
            found.append(start - reached)
        if end > reached:
            reached = end
    return found, reached


def gaps_of(apart: Sequence[int]) -> Gaps:
    """Of times between dispatches, none negative; a zero is no gap."""
    longest = max(apart, default=0)
    short = apart if longest <= LAUNCH_GAP_MOST_NS else [each for each in apart if each <= LAUNCH_GAP_MOST_NS]
    return Gaps(
        number=len(apart) - apart.count(0),
        total_ns=sum(apart),
        short=len(short) - short.count(0),
        short_ns=sum(short),
        longest_ns=longest,
    )


@dataclass(slots=True)
class Tally:
    """Times by key of a launch and by device. `settle` leaves out dispatches that end before they begin, and counts them."""

    durations: dict[Hashable, list[int]] = field(default_factory=dict)
    tracks: dict[str, Track] = field(default_factory=dict)
    impossible: int = 0

    def entry(self, device: str, key: Hashable) -> Entry:
        """What takes the dispatches of one launch. A time that is no 64-bit integer raises TypeError or OverflowError there."""
        track = self.tracks.setdefault(device, Track())
        return self.durations.setdefault(key, []).append, track.starts.append, track.ends.append

    def add(self, device: str, rows: Iterable[tuple[Hashable, int, int]]) -> None:
        """Take dispatches of one device as (key, start, end). Raises as the entries do."""
        entries: dict[Hashable, Entry] = {}
        for key, start, end in rows:
            if key not in entries:
                entries[key] = self.entry(device, key)
            duration_to, start_to, end_to = entries[key]
            duration_to(end - start)
            start_to(start)
            end_to(end)

    def alone(self, key: Hashable, duration: int) -> None:
        """Take one dispatch that ran by itself: a replay or a counted one, whose place in time means nothing."""
        self.durations.setdefault(key, []).append(duration)

    def settle(self) -> None:
        """Leave out what is impossible. Once, when all is taken."""
        for key, values in self.durations.items():
            if min(values, default=0) < 0:
                self.durations[key] = [value for value in values if value >= 0]
                self.impossible += len(values) - len(self.durations[key])
        for name, track in self.tracks.items():
            if any(map(lt, track.ends, track.starts)):
                self.tracks[name] = track.without_impossible()


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
