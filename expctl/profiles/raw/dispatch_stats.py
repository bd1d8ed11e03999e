"""Collect the times of kernel dispatches in plain Python: durations by launch configuration, start and end times by GPU.

It is fast enough for a million dispatches.
"""

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from operator import sub

LAUNCH_GAP_MOST_NS = 100_000
"""Longest gap between kernels that counts as a launch gap. Our choice: a steadily fed queue leaves gaps of microseconds."""

Appenders = tuple[Callable[[int], None], Callable[[int], None], Callable[[int], None]]
"""Three functions that take the duration, the start and the end of one dispatch, each in ns."""


_RECORDING: ContextVar[bool] = ContextVar("recording", default=False)


@contextmanager
def recording() -> Iterator[None]:
    """Within this context, readers also keep which launch each dispatch belongs to, which takes longer and more memory."""
    token = _RECORDING.set(True)
    try:
        yield
    finally:
        _RECORDING.reset(token)


def is_recording() -> bool:
    """Return whether readers keep the launch of each dispatch."""
    return _RECORDING.get()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """Number and length (ns) of the times in which a GPU ran no kernel; `short` and `short_ns` are of those up to 100 us."""

    number: int
    total_ns: int
    short: int
    short_ns: int
    longest_ns: int

    def join(self, between_ns: int, later: "Gaps") -> "Gaps":
        """Return the gaps of two periods together, with one more gap of `between_ns` ns between them (none if that is 0)."""
        between = gaps_of((between_ns,))
        return Gaps(
            number=self.number + between.number + later.number,
            total_ns=self.total_ns + between.total_ns + later.total_ns,
            short=self.short + between.short + later.short,
            short_ns=self.short_ns + between.short_ns + later.short_ns,
            longest_ns=max(self.longest_ns, between.longest_ns, later.longest_ns),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SerialDispatches:
    """Dispatches that are in time order and don't overlap: first start and last end (ns on the GPU's clock), and their gaps."""

    first_ns: int
    last_ns: int
    gaps: Gaps


@dataclass(slots=True)
class Intervals:
    """Start and end times (ns on the GPU's clock) of all dispatches of one GPU, in file order. `serial` sums them up if they
    are in time order and don't overlap; `find_serial` sets it. `keys` are numbers of launch keys in `DispatchTimes.numbers`,
    one for each dispatch; empty unless they are recorded.
    """

    starts: "array[int]" = field(default_factory=lambda: array("q"))
    ends: "array[int]" = field(default_factory=lambda: array("q"))
    serial: SerialDispatches | None = None
    keys: "array[int]" = field(default_factory=lambda: array("q"))

    @property
    def dispatches(self) -> int:
        """Return the number of dispatches."""
        return len(self.starts)

    def join(self, later: "Intervals") -> "Intervals":
        """Return these dispatches followed by `later`, which are of the same GPU in another process or file."""
        before, after = self.serial, later.serial
        serial = None
        if before and after and after.first_ns >= before.last_ns:
            gaps = before.gaps.join(after.first_ns - before.last_ns, after.gaps)
            serial = SerialDispatches(first_ns=before.first_ns, last_ns=after.last_ns, gaps=gaps)
        return Intervals(self.starts + later.starts, self.ends + later.ends, serial)

    def without_impossible(self) -> "Intervals":
        """Return a copy without dispatches that end before they start."""
        kept = [number for number, (start, end) in enumerate(zip(self.starts, self.ends, strict=True)) if end >= start]
        starts, ends = (array("q", (column[number] for number in kept)) for column in (self.starts, self.ends))
        return Intervals(starts, ends, keys=array("q", (self.keys[number] for number in kept)) if self.keys else array("q"))

    def find_serial(self) -> None:
        """Set `serial` if each dispatch starts after the previous one ended. None may end before it starts."""
        apart = list(map(sub, islice(self.starts, 1, None), self.ends))
        if self.starts and min(apart, default=0) >= 0:
            self.serial = SerialDispatches(first_ns=self.starts[0], last_ns=self.ends[-1], gaps=gaps_of(apart))

    def span_and_gaps(self) -> tuple[int, Gaps]:
        """Return the time from the first start to the last end in ns, and the gaps; overlapping dispatches count once. There
        must be a dispatch, and none may end before it starts.
        """
        if self.serial is None:
            self.find_serial()
        if self.serial is not None:
            return self.serial.last_ns - self.serial.first_ns, self.serial.gaps
        ordered = sorted(zip(self.starts, self.ends, strict=True))
        apart, reached = _gaps_between(ordered)
        return reached - ordered[0][0], gaps_of(apart)


def _gaps_between(ordered: Sequence[tuple[int, int]]) -> tuple[list[int], int]:
    """Return the idle times (ns) between dispatches, and the end of the last. `ordered` are their (start, end) in ns, sorted by
    start; they may overlap.
    """
    found = []
    reached = ordered[0][1]
    for start, end in ordered:
        if start > reached:
            found.append(start - reached)
        if end > reached:
            reached = end
    return found, reached


def gaps_of(apart: Sequence[int]) -> Gaps:
    """Sum up idle times between dispatches, `apart` (ns, none negative); one of 0 ns is no gap."""
    number, total, longest = len(apart) - apart.count(0), sum(apart), max(apart, default=0)
    long = [each for each in apart if each > LAUNCH_GAP_MOST_NS] if longest > LAUNCH_GAP_MOST_NS else []
    return Gaps(number=number, total_ns=total, short=number - len(long), short_ns=total - sum(long), longest_ns=longest)


@dataclass(slots=True)
class DispatchTimes:
    """Durations (ns) of dispatches by launch key, and their start and end times by GPU.

    Dispatches of one kernel with equal launch configurations share a launch key. `impossible` counts dispatches that are left
    out: those that end before they start, and those with start and end 0, by which tools mean unknown times.
    """

    durations: dict[Hashable, list[int]] = field(default_factory=dict)
    intervals: dict[str, Intervals] = field(default_factory=dict)
    impossible: int = 0
    numbers: dict[Hashable, int] = field(default_factory=dict)
    """Launch key -> its number in `Intervals.keys`; empty unless the launch of each dispatch is recorded."""

    def appenders(self, device: str, key: Hashable) -> Appenders:
        """Return three functions that append the duration, the start and the end of a dispatch, each in ns.

        They are for dispatches with launch `key` on GPU `device`, and raise TypeError or OverflowError for a start or end that
        is no 64-bit integer.
        """
        interval = self.intervals.setdefault(device, Intervals())
        start_to = self._recorded(interval, key) if is_recording() else interval.starts.append
        return self.durations.setdefault(key, []).append, start_to, interval.ends.append

    def _recorded(self, interval: Intervals, key: Hashable) -> Callable[[int], None]:
        number = self.numbers.setdefault(key, len(self.numbers))

        def start_to(start: int) -> None:
            interval.starts.append(start)
            interval.keys.append(number)

        return start_to

    def add(self, device: str, rows: Iterable[tuple[Hashable, int, int]]) -> None:
        """Record dispatches of one GPU as (launch key, start ns, end ns). Raises TypeError or OverflowError for a start or end
        that is no 64-bit integer.
        """
        entries: dict[Hashable, Appenders] = {}
        for key, start, end in rows:
            if key not in entries:
                entries[key] = self.appenders(device, key)
            if not start and not end:
                self.impossible += 1
                continue
            duration_to, start_to, end_to = entries[key]
            duration_to(end - start)
            start_to(start)
            end_to(end)

    def add_isolated(self, key: Hashable, duration: int) -> None:
        """Add the duration (ns) of a dispatch without start and end: the profiler ran it alone, so gaps mean nothing."""
        self.durations.setdefault(key, []).append(duration)

    def finish(self) -> None:
        """Sort the durations of each launch key, and move dispatches of negative duration to the count `impossible`."""
        found = 0
        for key, values in self.durations.items():
            values.sort()
            if values and values[0] < 0:
                found += (below := bisect_left(values, 0))
                self.durations[key] = values[below:]
        if found:
            self.intervals = {name: interval.without_impossible() for name, interval in self.intervals.items()}
            self.impossible += found


def median(ordered: Sequence[int]) -> float:
    """Return the median of ascending values. Raises IndexError for an empty sequence."""
    half = len(ordered) // 2
    return float(ordered[half]) if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def sample_deviation(values: Sequence[int], total: int) -> float | None:
    """Return the standard deviation (n - 1) of `values`, whose sum is `total`; None for fewer than two values."""
    n = len(values)
    if n < 2:
        return None
    return math.dist(values, (total / n,) * n) / math.sqrt(n - 1)


def repeat_deviation(groups: Sequence[Sequence[int]]) -> float | None:
    """Return the standard deviation within `groups`, pooled over them; None where no group has two values. It is sqrt(sum of
    squared differences from each group's mean / sum of (n - 1) of the groups).
    """
    squares, freedom = 0.0, 0
    for values in groups:
        if (deviation := sample_deviation(values, sum(values))) is not None:
            squares += deviation**2 * (len(values) - 1)
            freedom += len(values) - 1
    return math.sqrt(squares / freedom) if freedom else None
