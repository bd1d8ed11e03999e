"""The interface of the gate's sensors: each reports what blocks a launch, what disturbs it, and judges it at its end.

A sensor that doesn't work on this machine says so in `absent`; its silence never counts as quiet.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from msgspec import Struct

from expctl.domain.machine.burn_in import DeviceReading
from expctl.domain.machine.interference import Foreign
from expctl.domain.protocol.model import NumberKind, Target

EACH_TIME = 0.0
ONLY_AROUND = float("inf")


class Launch(Struct, frozen=True, kw_only=True):
    """A watched process of a side (baseline, candidate or both); is it being timed; its only core (None: any)."""

    side: str
    timed: bool = True
    core: int | None = None


class Sensor(Protocol):
    """One way to detect what disturbs measurements. A method that a sensor doesn't define does nothing."""

    name: str
    every_s: float
    """Least seconds from one `look` to the next: EACH_TIME for every poll, ONLY_AROUND for none."""
    window_s: float = 0.0
    """Least seconds between two calls of `blocking` before the second can report anything."""

    def why_absent(self) -> str:
        """Return why the sensor doesn't work on this machine; empty if it does."""

    def blocking(self) -> tuple[Foreign, ...]:
        """Return what would disturb a process that was timed from now on. Called while nothing of ours is timed."""
        return ()

    def says(self) -> str:
        """Return in a few words what the sensor observed last."""
        return ""

    def why_unused(self, target: Target | None) -> str:  # noqa: ARG002  most sensors serve every target
        """Return why the sensor isn't used for `target` (None: whatever target comes); empty if it is used."""
        return ""

    def session(self) -> AbstractContextManager[object]:
        """Return a context that the gate holds from before the first launch until after the last."""
        return nullcontext()

    def start(self, launch: Launch) -> None:  # noqa: ARG002  not every sensor compares
        """Note the machine's state as a benchmark process begins its work, for `stop` to compare; on the main thread."""
        return

    def look(self, fresh: Sequence[int]) -> tuple[Foreign, ...]:  # noqa: ARG002  most sensors don't look at processes
        """Return what disturbs the process now; `fresh` are the pids new since the last call. Must be cheap."""
        return ()

    def stop(self) -> tuple[Foreign, ...]:
        """Return what disturbed the process since `start`; called after the last `look`."""
        return ()

    def readings(self) -> tuple[DeviceReading, ...]:
        """Return the clocks and temperatures of devices that were seen by each `look` since `start`."""
        return ()


def uses_gpu(target: Target | None) -> bool:
    """Is the target timed on a GPU? True without a target."""
    return target is None or target.uses_gpu


def times_cpu(target: Target | None) -> bool:
    """Is the target's wall time on a CPU measured? True without a target."""
    return target is None or (target.number_kind is NumberKind.WALL_TIME and not target.requires.devices)
