"""Sensor of the clock rate of the core that is measured, and of thermal throttling of the CPU during a launch."""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from expctl.adapters.sensors.clock_history import ClockHistory
from expctl.adapters.sensors.interface import Launch, Sensor, times_cpu
from expctl.domain.machine.interference import BELOW_ITS_CLOCK, THROTTLED_BY, Foreign
from expctl.domain.protocol.model import Target

CPUS = Path("/sys/devices/system/cpu")
COUNTS = ("thermal_throttle/core_throttle_count", "thermal_throttle/package_throttle_count")


class CpuClock(Sensor):
    """Reads cpufreq and the kernel's counts of thermal events below `root`; during launches only: an idle core slows down."""

    name = "clock"
    every_s = 0.25

    def __init__(self, slow_percent: float, *, root: Path = CPUS) -> None:
        self._slow_percent, self._root = slow_percent, root
        self._history = ClockHistory(slow_percent)
        self._launch = Launch(side="")
        self._clocks: list[float] = []
        self._events = 0

    def why_absent(self) -> str:
        """Return in words which of cpufreq and thermal counts the kernel lacks; empty if none. A virtual machine lacks both."""
        missing = [name for name, has in (("cpufreq", self._has_clock()), ("throttle counts", self._has_counts())) if not has]
        return f"the kernel shows no {' and no '.join(missing)} of the CPU" if missing else ""

    def says(self) -> str:
        """Return in words the limit in percent by which a clock may lie below earlier launches, or that there is none."""
        limit = (
            f"the limit is {self._slow_percent:g} % below the median" if self._slow_percent else "gate.slow_clock_percent is 0"
        )
        return f"judged during launches; {limit}"

    def why_unused(self, target: Target | None) -> str:
        """Return in words that no wall time on a CPU is measured for `target`; empty if one is."""
        return "" if times_cpu(target) else "no wall time is measured"

    def session(self) -> AbstractContextManager[object]:
        """Forget the clock rates of launches before this session; launches are compared with those of their session only."""
        self._history = ClockHistory(self._slow_percent)
        return nullcontext()

    def start(self, launch: Launch) -> None:
        """Read the counts of thermal events at the start of a benchmark process; `stop` compares them with later ones."""
        self._launch, self._clocks = launch, []
        self._events = self._count()

    def look(self, fresh: Sequence[int]) -> tuple[Foreign, ...]:  # noqa: ARG002  the port's signature
        """Add the core's present clock rate to those that `stop` judges; return nothing."""
        khz = _integer(self._root / f"cpu{self._launch.core}" / "cpufreq/scaling_cur_freq")
        if self._launch.core is not None and self._slow_percent and khz:
            self._clocks.append(khz / 1000)
        return ()

    def stop(self) -> tuple[Foreign, ...]:
        """Return an entry if there were thermal events since `start`, and one if a timed launch's clock rate was too low. Too
        low is a limit in percent below the median of the side's earlier launches.
        """
        hot = self._count() - self._events
        found = [Foreign(sensor=self.name, what=f"the CPU {THROTTLED_BY} heat", detail=f"{hot} times")] if hot > 0 else []
        slow = self._history.judge(self._launch.side, self._clocks) if self._launch.timed else ""
        if slow:
            found.append(Foreign(sensor=self.name, what=f"the CPU {BELOW_ITS_CLOCK}", detail=slow))
        return tuple(found)

    def _count(self) -> int:
        core = self._launch.core if self._launch.core is not None else min(os.sched_getaffinity(0))
        return sum(_integer(self._root / f"cpu{core}" / name) for name in COUNTS)

    def _has_clock(self) -> bool:
        return any(self._root.glob("cpu[0-9]*/cpufreq/scaling_cur_freq"))

    def _has_counts(self) -> bool:
        return any((cpu / name).exists() for cpu in self._root.glob("cpu[0-9]*") for name in COUNTS)


def _integer(file: Path) -> int:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return 0
