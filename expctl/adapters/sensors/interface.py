"""The interface of the gate's sensors, which detect what would disturb a launch, or disturbs it while it is timed.

A sensor that doesn't work on this machine says so in `why_absent`: that it finds nothing never counts as a quiet machine.
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
    """A benchmark process that sensors watch. `side` is baseline, candidate or both. `timed` says that its times are being
    measured; `core` is the only core it runs on, None if it may run on any.
    """

    side: str
    timed: bool = True
    core: int | None = None


class Sensor(Protocol):
    """One way to detect what disturbs measurements. A method that a sensor doesn't define has no effect, or returns nothing."""

    name: str
    every_s: float
    """Least seconds from one `look` to the next: EACH_TIME for every poll, ONLY_AROUND for none."""
    window_s: float = 0.0
    """Least seconds between two calls of `blocking` before the second can report anything."""

    is_slow: bool = False
    """Whether `blocking` starts a tool, which takes up to seconds."""

    def why_absent(self) -> str:
        """Return why the sensor doesn't work on this machine; empty if it does."""

    def blocking(self) -> tuple[Foreign, ...]:
        """Return what would disturb a process if it were timed now. Called while no process of ours is timed."""
        return ()

    def says(self) -> str:
        """Return in a few words what the sensor observed last."""
        return ""

    def why_unused(self, target: Target | None) -> str:  # noqa: ARG002  most sensors serve every target
        """Return why the sensor isn't used for `target` (None: for whichever target comes); empty if it is used."""
        return ""

    def session(self) -> AbstractContextManager[object]:
        """Return a context that the gate enters before the first launch and leaves after the last."""
        return nullcontext()

    def start(self, launch: Launch) -> None:  # noqa: ARG002  not every sensor compares
        """Read the machine's counters at the start of a benchmark process, for `stop` to compare. Called on the main thread."""
        return

    def look(self, fresh: Sequence[int]) -> tuple[Foreign, ...]:  # noqa: ARG002  most sensors don't look at processes
        """Return what disturbs the benchmark process now; `fresh` are the pids to check (mostly new ones). Must be cheap."""
        return ()

    def stop(self) -> tuple[Foreign, ...]:
        """Return what disturbed the process since `start`; called after the last `look`."""
        return ()

    def readings(self) -> tuple[DeviceReading, ...]:
        """Return the clocks and temperatures of devices that were seen by each `look` since `start`."""
        return ()


def uses_gpu(target: Target | None) -> bool:
    """Return whether `target` is timed on a GPU; True if it is None."""
    return target is None or target.uses_gpu


def times_cpu(target: Target | None) -> bool:
    """Return whether the wall time of `target` on a CPU is measured; True if it is None."""
    return target is None or (target.number_kind is NumberKind.WALL_TIME and not target.requires.devices)
