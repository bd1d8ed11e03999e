"""Sensor of suspends (sleep) during a launch: CLOCK_BOOTTIME counts the time of a suspend, CLOCK_MONOTONIC doesn't."""

import time
from collections.abc import Callable

from expctl.adapters.sensors.interface import ONLY_AROUND, Launch, Sensor
from expctl.domain.machine.interference import Foreign

LEAST_S = 0.05


def asleep_s() -> float:
    """Return how many seconds the machine was suspended since boot: the difference of two clocks, the largest of three tries. A
    try gives too few seconds if this process is interrupted between reading the two clocks.
    """
    return max(time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC) for _ in range(3))


class Suspend(Sensor):
    """Sensor that compares the seconds that the machine was suspended, before and after a launch (timed process)."""

    name = "suspend"
    every_s = ONLY_AROUND

    def __init__(self, asleep: Callable[[], float] = asleep_s) -> None:
        self._asleep, self._before_s = asleep, asleep()

    def why_absent(self) -> str:
        """Return "", because every supported Linux has both clocks."""
        return ""

    def says(self) -> str:
        """Return in words how long the machine was suspended since it booted."""
        return f"suspended for {abs(self._asleep()):.0f} s since the machine booted"

    def start(self, launch: Launch) -> None:  # noqa: ARG002  a suspend disturbs whoever is measured
        """Read how long the machine has been suspended so far, at the start of a benchmark process; `stop` compares."""
        self._before_s = self._asleep()

    def stop(self) -> tuple[Foreign, ...]:
        """Return one entry if the machine was suspended for 0.05 s or more since `start`, else none."""
        slept_s = self._asleep() - self._before_s
        if slept_s < LEAST_S:
            return ()
        return (Foreign(sensor=self.name, what="the machine was suspended", detail=f"for {slept_s:.3g} s"),)
