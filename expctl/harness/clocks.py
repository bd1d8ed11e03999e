"""Times one call: by a monotonic clock, or by events where arrays lie on a GPU."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from time import perf_counter_ns
from typing import Any, Protocol

from expctl.harness import arrays
from expctl.harness.mistake import Mistake

COLD_BYTES = 256 << 20
"""Written before each call on a GPU: more than any L2 cache holds, and long enough for the host to queue the call behind it."""
EMPTY_CALLS, ALLOWED_TIMES, LEAST_ALLOWANCE_NS = 15, 8, 1_000_000
Call = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Timed:
    """One call: its ns, what it returned, and the ns until the device was idle, where there is one."""

    ns: int
    result: Any
    outside_ns: int | None = None


class Clock(Protocol):
    """Times calls; `kind` is the kind of its figures (docs/HARNESS.md), `step_ns` the least difference that it sees."""

    kind: str
    step_ns: float
    allowance_ns: int
    """By how much the outside time of a call may exceed its own, where there is one."""

    def time(self, call: Call, build: Any, arguments: Sequence[Any]) -> Timed:
        """Call `call(build, *arguments)` once."""


class WallClock:
    """Times calls that are done when they return, by time.perf_counter_ns."""

    kind, allowance_ns = "wall_time", 0

    def __init__(self) -> None:
        readings = [perf_counter_ns() for _ in range(1000)]
        self.step_ns = statistics.median(b - a for a, b in pairwise(readings)) or 1.0

    def time(self, call: Call, build: Any, arguments: Sequence[Any]) -> Timed:  # noqa: D102 - see Clock
        begin = perf_counter_ns()
        result = call(build, *arguments)
        return Timed(perf_counter_ns() - begin, result)


class EventClock:
    """Times calls between two events on the current stream, each with a cold L2 cache."""

    kind, step_ns = "device_time", 500.0

    def __init__(self, events: Events) -> None:
        self._events = events
        empty = [self.time(lambda _: None, None, ()).outside_ns or 0 for _ in range(EMPTY_CALLS)]
        self.allowance_ns = max(LEAST_ALLOWANCE_NS, round(ALLOWED_TIMES * statistics.median(empty)))

    def time(self, call: Call, build: Any, arguments: Sequence[Any]) -> Timed:  # noqa: D102 - see Clock
        events = self._events
        events.wait()
        begin = perf_counter_ns()
        events.cool()
        events.begin()
        result = call(build, *arguments)
        events.end()
        events.wait()
        outside_ns = perf_counter_ns() - begin
        return Timed(events.elapsed_ns(), result, outside_ns)


class Events(Protocol):
    """A pair of events of one package; `cool` empties the L2 cache, `wait` waits for all streams."""

    begin: Call
    end: Call
    wait: Call
    cool: Call

    def elapsed_ns(self) -> int:
        """Return the ns between the two, which the device has passed."""


class TorchEvents:
    """Events of torch, on CUDA and HIP."""

    def __init__(self) -> None:
        import torch

        event: Call = torch.cuda.Event
        self._begin, self._end = event(enable_timing=True), event(enable_timing=True)
        self.begin: Call = self._begin.record
        self.end: Call = self._end.record
        self.wait: Call = torch.cuda.synchronize
        self.cool: Call = torch.empty(COLD_BYTES, dtype=torch.uint8, device="cuda").zero_

    def elapsed_ns(self) -> int:  # noqa: D102 - see Events
        return int(self._begin.elapsed_time(self._end) * 1e6)


class CupyEvents:
    """Events of cupy, on CUDA and HIP."""

    def __init__(self) -> None:
        import cupy

        self._elapsed: Call = cupy.cuda.get_elapsed_time
        self._begin, self._end = cupy.cuda.Event(), cupy.cuda.Event()
        cold = cupy.empty(COLD_BYTES, dtype=cupy.uint8)
        self.begin: Call = self._begin.record
        self.end: Call = self._end.record
        self.wait: Call = cupy.cuda.Device().synchronize
        self.cool: Call = lambda: cold.fill(0)

    def elapsed_ns(self) -> int:  # noqa: D102 - see Events
        return int(self._elapsed(self._begin, self._end) * 1e6)


def clock_for(values: Iterable[Any]) -> Clock:
    """Return a clock for calls with these inputs and outputs. Raises Mistake for arrays on another kind of device."""
    found = [each for each in values if arrays.family(each)]
    unknown = next((each for each in found if arrays.device(each) not in ("cpu", "gpu")), None)
    if unknown is not None:
        raise Mistake("arrays in host memory or on a CUDA or HIP device", f"one on {arrays.device(unknown)}")
    on_gpu = [each for each in found if arrays.device(each) == "gpu"]
    if not on_gpu:
        return WallClock()
    return _event_clock("torch" if any(arrays.family(each) == "torch" for each in on_gpu) else "cupy")


@cache
def _event_clock(package: str) -> EventClock:
    return EventClock(TorchEvents() if package == "torch" else CupyEvents())
