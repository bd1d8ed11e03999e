"""Holds a build's own times against what is seen from outside of its process.

On a CPU that is the processor time which the kernel charges the cell: other processes that come in between are not in it, work
before, after and beside the timed call is. On a GPU it is our own clock, from the order to start until the device is done.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from kernel.harness.report import BuildFailed
from kernel.harness.supervisor import Supervisor
from kernel.harness.timed_launch import TimedBatch

AGREEMENT = 0.01
EMPTY_BATCHES = 15
ALLOWED_TIMES, MANY_VISITS = 8, 10
LEAST_ALLOWANCE_NS = {True: 400_000, False: 1_000_000}
"""By processor time: beside a busy neighbour, whose work takes the caches, asking was charged .3 ms. And by our own clock: a
GPU's runtime needs up to .3 ms to notice that an H200 is done."""
PROBE_BYTES = 1 << 18


class OutsideClock:
    """Of one cell, made before it loads a build. `allowance_ns` may lie between the two for each batch: eight times what
    one without a launch takes (a launch leaves cold caches, so that asking takes up to five times as long after it)."""

    def __init__(self, supervisor: Supervisor, target: str) -> None:
        self._supervisor, self._by_cpu_time = supervisor, target == "cpu"
        self._last_ns = 0
        self.allowance_ns = max(LEAST_ALLOWANCE_NS[self._by_cpu_time], round(ALLOWED_TIMES * self._empty()))

    def _empty(self) -> float:
        buffers = self._supervisor.ask("allocate_buffers", sizes=[PROBE_BYTES] * 4)["buffers"]
        seen = []
        for _ in range(EMPTY_BATCHES):
            before_ns = self._supervisor.cpu_time_ns()
            _, wall_ns = self._supervisor.go(b"%d 1.0" % buffers)
            seen.append(self._supervisor.cpu_time_ns() - before_ns if self._by_cpu_time else wall_ns)
        return statistics.median(seen)

    def start(self) -> None:
        """What the cell has done up to now belongs to no batch."""
        self._last_ns = self._supervisor.cpu_time_ns()

    def outside_ns(self, batches: Sequence[TimedBatch]) -> int:
        """How long the batches since the last call took, seen from outside; on a CPU with all that the cell did besides."""
        if not self._by_cpu_time:
            return sum(batch.wall_ns for batch in batches)
        now_ns = self._supervisor.cpu_time_ns()
        cpu_time_ns, self._last_ns = now_ns - self._last_ns, now_ns
        return cpu_time_ns


class ClockCheck:
    """The visits of one size: what the build said and what was seen."""

    def __init__(self, allowance_ns: int) -> None:
        self._allowance_ns = allowance_ns
        self._visits: list[tuple[int, int, int]] = []

    def add(self, batches: Sequence[TimedBatch], outside_ns: int) -> None:
        """One visit, of some batches."""
        self._visits.append((sum(sum(batch.ns) for batch in batches), outside_ns, len(batches)))

    def check(self) -> None:
        """Raises BuildFailed when a visit took more than the build said, on average by more than 1 % and the allowance.

        A visit that the build calls longer than it was seen hides nothing: another process came in between. Of many, the one
        that hides the most doesn't count: interrupts are charged to whom they meet, and a lie told once gains nothing.
        """
        if self._visits:
            each_hid = sorted(max(0, seen - said) for said, seen, _ in self._visits)
            hidden_ns = statistics.fmean(each_hid[:-1] if len(each_hid) >= MANY_VISITS else each_hid)
            said_ns, batches = (statistics.median(each) for each in (list(zip(*self._visits, strict=True))[i] for i in (0, 2)))
            allowed_ns = AGREEMENT * said_ns + batches * self._allowance_ns
            if hidden_ns > allowed_ns:
                said, hidden, allowed = (f"{each / 1e3:.0f} us" for each in (said_ns, hidden_ns, allowed_ns))
                raise BuildFailed(
                    f"by its own clock a visit took {said}; {hidden} more were seen from outside, where 1 % and what asking "
                    f"takes make {allowed}"
                )
        self._visits.clear()
