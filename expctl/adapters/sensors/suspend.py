"""Did the machine sleep during the launch? CLOCK_BOOTTIME goes on while it does, CLOCK_MONOTONIC does not."""

import time
from collections.abc import Callable

from expctl.adapters.sensors.interface import ONLY_AROUND, Launch, Sensor
from expctl.domain.machine.interference import Foreign

LEAST_S = 0.05


def asleep_s() -> float:
    """Seconds of suspend since the machine booted. Whoever is preempted between the two clocks reads too little."""
    return max(time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC) for _ in range(3))


class Suspend(Sensor):
    """Holds the two clocks against each other."""

    name = "suspend"
    every_s = ONLY_AROUND

    def __init__(self, asleep: Callable[[], float] = asleep_s) -> None:
        self._asleep, self._before_s = asleep, asleep()

    def absent(self) -> str:
        """Every Linux that runs this has both clocks."""
        return ""

    def blocking(self) -> tuple[Foreign, ...]:
        """A machine that answers is awake."""
        return ()

    def says(self) -> str:
        """How long it slept since it booted."""
        return f"suspended for {abs(self._asleep()):.0f} s since the machine booted"

    def start(self, launch: Launch) -> None:  # noqa: ARG002  a suspend disturbs whoever is measured
        """Note both clocks."""
        self._before_s = self._asleep()

    def stop(self) -> tuple[Foreign, ...]:
        """One sighting when they went apart."""
        slept_s = self._asleep() - self._before_s
        if slept_s < LEAST_S:
            return ()
        return (Foreign(sensor=self.name, what="the machine was suspended", detail=f"for {slept_s:.3g} s"),)
