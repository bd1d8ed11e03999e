"""Collects dispatches: durations by launch, busy time by device. Made for a million rows in plain Python."""

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import sub

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

    def join(self, between_ns: int, later: "Gaps") -> "Gaps":
        """These, the time between, the later ones."""
        between = gaps_of((between_ns,))
        return Gaps(
            number=self.number + between.number + later.number,
            total_ns=self.total_ns + between.total_ns + later.total_ns,
            short=self.short + between.short + later.short,
            short_ns=self.short_ns + between.short_ns + later.short_ns,
            longest_ns=max(self.longest_ns, between.longest_ns, later.longest_ns),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Dispatches that ran one after the other, none before its forerunner had ended."""

    first_ns: int
    last_ns: int
    gaps: Gaps


@dataclass(slots=True)
class Track:
    """The dispatches of one device, in file order. `stretch` is set by `look`, where they ran one after the other."""

    starts: "array[int]" = field(default_factory=lambda: array("q"))
    ends: "array[int]" = field(default_factory=lambda: array("q"))
    stretch: Stretch | None = None

    @property
    def dispatches(self) -> int:
        """How many."""
        return len(self.starts)

    def join(self, later: "Track") -> "Track":
        """Both on one device: two processes, two files."""
        before, after = self.stretch, later.stretch
        stretch = None
        if before and after and after.first_ns >= before.last_ns:
            gaps = before.gaps.join(after.first_ns - before.last_ns, after.gaps)
            stretch = Stretch(first_ns=before.first_ns, last_ns=after.last_ns, gaps=gaps)
        return Track(self.starts + later.starts, self.ends + later.ends, stretch)

    def without_impossible(self) -> "Track":
        """Only dispatches that end when they begin or later."""
        kept = [(start, end) for start, end in zip(self.starts, self.ends, strict=True) if end >= start]
        return Track(array("q", (start for start, _ in kept)), array("q", (end for _, end in kept)))

    def look(self) -> None:
        """Find out whether there are dispatches and they ran one after the other. None may be impossible."""
        apart = list(map(sub, islice(self.starts, 1, None), self.ends))
        if self.starts and min(apart, default=0) >= 0:
            self.stretch = Stretch(first_ns=self.starts[0], last_ns=self.ends[-1], gaps=gaps_of(apart))

    def measured(self) -> tuple[int, Gaps]:
        """From the first start to the last end, and the gaps; overlapping dispatches count once. None may be impossible."""
        if self.stretch is None:
            self.look()
        if self.stretch is not None:
            return self.stretch.last_ns - self.stretch.first_ns, self.stretch.gaps
        ordered = sorted(zip(self.starts, self.ends, strict=True))
        apart, reached = _apart(ordered)
        return reached - ordered[0][0], gaps_of(apart)


def _apart(ordered: Sequence[tuple[int, int]]) -> tuple[list[int], int]:
    """Times from the end of everything before to each start, where dispatches overlap; and the last end."""
    found = []
    reached = ordered[0][1]
    for start, end in ordered:
        if start > reached:
            found.append(start - reached)
        if end > reached:
            reached = end
    return found, reached


def gaps_of(apart: Sequence[int]) -> Gaps:
    """Of times between dispatches, none negative; a zero is no gap."""
    number, total, longest = len(apart) - apart.count(0), sum(apart), max(apart, default=0)
    long = [each for each in apart if each > LAUNCH_GAP_MOST_NS] if longest > LAUNCH_GAP_MOST_NS else []
    return Gaps(number=number, total_ns=total, short=number - len(long), short_ns=total - sum(long), longest_ns=longest)


@dataclass(slots=True)
class Tally:
    """Times by key of a launch and by device. `settle` leaves out dispatches that end before they begin, and counts them.

    A start and an end of 0 are what tools write when they couldn't take the times: who reads such a dispatch counts it as
    impossible, too.
    """

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
            if not start and not end:
                self.impossible += 1
                continue
            duration_to, start_to, end_to = entries[key]
            duration_to(end - start)
            start_to(start)
            end_to(end)

    def alone(self, key: Hashable, duration: int) -> None:
        """Take one dispatch that ran by itself: a replay or a counted one, whose place in time means nothing."""
        self.durations.setdefault(key, []).append(duration)

    def settle(self) -> None:
        """Sort durations, and leave out what is impossible."""
        found = 0
        for key, values in self.durations.items():
            values.sort()
            if values and values[0] < 0:
                found += (below := bisect_left(values, 0))
                self.durations[key] = values[below:]
        if found:
            self.tracks = {name: track.without_impossible() for name, track in self.tracks.items()}
            self.impossible += found


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


def repeat_deviation(groups: Sequence[Sequence[int]]) -> float | None:
    """Pooled over groups: the root of all squares around the groups' own means by all degrees of freedom; None without one."""
    squares, freedom = 0.0, 0
    for values in groups:
        if (deviation := sample_deviation(values, sum(values))) is not None:
            squares += deviation**2 * (len(values) - 1)
            freedom += len(values) - 1
    return math.sqrt(squares / freedom) if freedom else None
