"""Sensor of the CPU time that other processes take, for targets whose wall time is measured.

During a launch it reads how long the threads of our workers (benchmark processes) were ready to run but waited for their core,
from schedstat (ns on the CPU and ns in the run queue), and how much CPU time the host of a virtual machine took (steal). A
worker is a group of processes that share a core: the time that its busiest thread waited for other threads of the group is not
counted, nor is work on other cores. Before a launch, when there are no workers, it reads the share of the cores that is free.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from expctl.adapters.sensors.interface import ONLY_AROUND, Launch, Sensor, times_cpu
from expctl.adapters.sensors.process_table import PROC, ProcessTable
from expctl.domain.machine.interference import Foreign
from expctl.domain.protocol.model import Target

WINDOW_S = 0.2  # ticks are 10 ms: a shorter time is too coarse
RUN_LEAST_NS = 20_000_000
IDLE, IOWAIT, STEAL, GUEST = 3, 4, 7, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Nanoseconds that one thread has run, and waited in the run queue, since its start; and its process group."""

    group: str
    ran_ns: int
    waited_ns: int


def since(before: Schedule | None, now: Schedule) -> Schedule:
    """Return how long a thread ran and waited between `before` (None: its start) and `now`."""
    if before is None:
        return now
    return replace(now, ran_ns=now.ran_ns - before.ran_ns, waited_ns=now.waited_ns - before.waited_ns)


def kept_waiting(threads: Sequence[Schedule]) -> tuple[int, int]:
    """Return (ns run, ns waited) of the busiest thread of each process group, summed over the groups. Waiting for threads of
    the same group is not counted.
    """
    ran_ns = waited_ns = 0
    for group in {thread.group for thread in threads}:
        own = [thread for thread in threads if thread.group == group]
        busiest = max(own, key=lambda thread: thread.ran_ns)
        ran_ns += busiest.ran_ns
        waited_ns += max(0, busiest.waited_ns - (sum(thread.ran_ns for thread in own) - busiest.ran_ns))
    return ran_ns, waited_ns


class CpuLoad(Sensor):
    """Detects that processes of others take at least `limit_percent` % of one core's time. A limit of 0 switches it off."""

    name = "cpu"
    every_s = ONLY_AROUND
    window_s = WINDOW_S

    def __init__(
        self,
        table: ProcessTable,
        limit_percent: float,
        *,
        root: Path = PROC,
        cores: set[int] | None = None,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._table, self._limit, self._root, self._clock_s = table, limit_percent, root, clock_s
        self._cores = os.sched_getaffinity(0) if cores is None else cores
        self._tick_s = 1 / os.sysconf("SC_CLK_TCK")
        self._looked: tuple[float, float] | None = None
        self._found: tuple[Foreign, ...] = ()
        self._launch = Launch(side="")
        self._waits: dict[str, Schedule] = {}
        self._steal, self._started_s, self._said = 0, 0.0, ""

    def why_absent(self) -> str:
        """Return in words which of /proc/stat and schedstat the kernel lacks; empty if it has both."""
        if not self._ticks():
            return "no /proc/stat"
        return "" if self._waited(os.getpid(), PROC) else "this kernel has no schedstat"

    def says(self) -> str:
        """Return in words how many cores were busy on average between the last two calls of `blocking`."""
        return self._said or "not looked at for long enough"

    def why_unused(self, target: Target | None) -> str:
        """Return why this sensor isn't used: the protocol sets no limit, or `target` has no wall time; empty if it is used."""
        if not times_cpu(target):
            return "no wall time is measured"
        return "" if self._limit else "gate.others_percent is 0"

    def blocking(self) -> tuple[Foreign, ...]:
        """Return one entry if no core was free enough since the last call.

        That is: the idle times of all cores that we may use were together at most 100 - `limit_percent` % of the time passed.
        Returns nothing in the first call. One that comes less than 0.2 s after the last gets the same answer again.
        """
        now_s, busy_s = self._clock_s(), self._busy_s()
        if self._looked is None:
            self._looked, self._found = (now_s, busy_s), ()
        if now_s - self._looked[0] < WINDOW_S:
            return self._found
        others = (busy_s - self._looked[1]) / (now_s - self._looked[0])
        self._looked = (now_s, busy_s)
        used = f"{others:.1f} of {len(self._cores)} cores"
        self._said = f"others use {used}"
        lacking = 100 * (1 - (len(self._cores) - others))
        self._found = self._judged(lacking, f"{used}, a core free for {100 - self._limit:g} % is needed")
        return self._found

    def start(self, launch: Launch) -> None:
        """Read how long the benchmark's processes ran and waited for a CPU, and the host's steal time; `stop` compares."""
        self._launch, self._looked = launch, None
        if launch.timed:
            self._waits, self._steal, self._started_s = self._workers(), self._stolen(), self._clock_s()

    def stop(self) -> tuple[Foreign, ...]:
        """Return one entry if, since `start`, the benchmark waited for a core at least `limit_percent` % of its time, or the
        host of the virtual machine took as much of the core. Returns nothing for a process that is not timed.
        """
        if not self._launch.timed:
            return ()
        now = self._workers()
        ran, waited = kept_waiting([since(self._waits.get(task), now[task]) for task in now])
        stolen = 100 * (self._stolen() - self._steal) * self._tick_s / max(self._clock_s() - self._started_s, WINDOW_S)
        share = 100 * waited / (ran + waited) if ran + waited >= RUN_LEAST_NS else 0.0
        return self._judged(share, f"the workers waited {share:.0f} % of their time for a core") or self._judged(
            stolen, f"the host took {stolen:.0f} % of the core"
        )

    def _judged(self, percent: float, detail: str) -> tuple[Foreign, ...]:
        if not self._limit or percent < self._limit:
            return ()
        return (Foreign(sensor=self.name, what="others use the CPU", detail=f"{detail} (limit {self._limit:g} %)"),)

    def _workers(self) -> dict[str, Schedule]:  # by "PID TID"
        found: dict[str, Schedule] = {}
        for pid in self._table.ours_below():
            found |= self._waited(pid, self._root)
        return found

    @staticmethod
    def _waited(pid: int, root: Path) -> dict[str, Schedule]:
        found = {}
        try:
            group = (root / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()[2]
            for task in os.listdir(root / str(pid) / "task"):
                ran, waited, _ = (root / str(pid) / "task" / task / "schedstat").read_bytes().split()
                found[f"{pid} {task}"] = Schedule(group=group, ran_ns=int(ran), waited_ns=int(waited))
        except (OSError, ValueError, IndexError):
            return found
        return found

    def _ticks(self) -> dict[int, list[int]]:
        try:
            lines = (self._root / "stat").read_text().splitlines()
        except OSError:
            return {}
        rows = [line.split() for line in lines if line.startswith("cpu") and line[3:4].isdigit()]
        return {int(row[0][3:]): [int(word) for word in row[1:]] for row in rows if int(row[0][3:]) in self._cores}

    def _busy_s(self) -> float:
        idle_columns = (IDLE, IOWAIT)
        return self._tick_s * sum(
            sum(ticks for column, ticks in enumerate(row[:GUEST]) if column not in idle_columns)
            for row in self._ticks().values()
        )

    def _stolen(self) -> int:
        rows = self._ticks()  # of all cores, if the launch is not pinned to one
        if self._launch.core in rows:
            rows = {self._launch.core: rows[self._launch.core]}
        return max((row[STEAL] for row in rows.values() if len(row) > STEAL), default=0)
