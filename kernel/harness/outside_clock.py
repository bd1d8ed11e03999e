"""Reads the times of a build's process from outside, for expctl.harness.clock_check to compare with those that it names.

On a CPU the outside time is the processor time that the operating system charges the sandbox worker. It leaves out other
processes that ran in between, and includes work before, after and beside the timed call. On a GPU it is the supervisor's clock,
from the order to start until the device is idle.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from kernel.harness.supervisor import Supervisor
from kernel.harness.timed_launch import TimedBatch

EMPTY_BATCHES = 15
ALLOWED_TIMES = 8
LEAST_ALLOWANCE_NS = {True: 400_000, False: 1_000_000}
"""By processor time: beside a busy neighbour, whose work takes the caches, asking was charged .3 ms. And by our own clock: a
GPU's runtime needs up to .3 ms to notice that an H200 is done."""
PROBE_BYTES = 1 << 18


class OutsideClock:
    """Reads the outside time of one sandbox worker. Make it before the worker loads a build.

    `allowance_ns` is the difference that one batch may show: eight times the median of batches without a launch, because
    a launch leaves cold caches and the request after it takes up to five times as long.
    """

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
        """Leave the processor time that the worker has used so far out of the next `outside_ns`."""
        self._last_ns = self._supervisor.cpu_time_ns()

    def outside_ns(self, batches: Sequence[TimedBatch]) -> int:
        """Return the outside ns of `batches`, at least 1. On a CPU: all processor time of the worker since the last call or
        `start`; it has been 0 on a virtual machine, perhaps because Linux charges nobody for time that a host steals.
        """
        if not self._by_cpu_time:
            return sum(batch.wall_ns for batch in batches)
        now_ns = self._supervisor.cpu_time_ns()
        cpu_time_ns, self._last_ns = now_ns - self._last_ns, now_ns
        return max(1, cpu_time_ns)
