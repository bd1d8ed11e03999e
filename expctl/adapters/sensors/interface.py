"""What every sensor of the gate does: says what blocks, looks during a launch, judges it when it ends.

A sensor that can't see on this machine says so in `absent`; it never counts as quiet.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from msgspec import Struct

from expctl.domain.machine.interference import Foreign
from expctl.domain.protocol.model import NumberKind, Target

EACH_TIME = 0.0
ONLY_AROUND = float("inf")


class Launch(Struct, frozen=True, kw_only=True):
    """What is being watched: whose it is, whether it is the timed part, the core that it is pinned to."""

    side: str
    timed: bool = True
    core: int | None = None


class Sensor(Protocol):
    """One way to see foreign work. Defaults are those of a sensor that has nothing to do at that point."""

    name: str
    every_s: float
    """How long from one `look` to the next, at least."""
    window_s: float = 0.0
    """How long from one `blocking` to the next, at least, before it says anything."""

    def absent(self) -> str:
        """Why it sees nothing on this machine; empty when it sees."""

    def blocking(self) -> tuple[Foreign, ...]:
        """What would disturb a launch that began now. Nothing of ours is being timed."""

    def says(self) -> str:
        """What it looked at last, in a few words for a person."""
        return ""

    def unused(self, target: Target | None) -> str:  # noqa: ARG002  most sensors serve every target
        """Why it isn't asked about `target`; empty when it is."""
        return ""

    def session(self) -> AbstractContextManager[object]:
        """Entered while the machine is held."""
        return nullcontext()

    def start(self, launch: Launch) -> None:  # noqa: ARG002  not every sensor compares
        """A launch begins; called from the thread that measures."""
        return

    def look(self, fresh: Sequence[int]) -> tuple[Foreign, ...]:  # noqa: ARG002  most sensors don't look at processes
        """What disturbs the launch now; `fresh` are processes worth a look. Called by the watching thread: it must be cheap."""
        return ()

    def stop(self) -> tuple[Foreign, ...]:
        """What the launch shows as a whole; called when nobody looks any more."""
        return ()


def uses_gpu(target: Target | None) -> bool:
    """Is a GPU timed? True where nobody says which target."""
    return target is None or bool(target.requires.devices) or target.number_kind is NumberKind.DEVICE_TIME


def times_cpu(target: Target | None) -> bool:
    """Is wall time on a CPU the figure?"""
    return target is None or (target.number_kind is NumberKind.WALL_TIME and not target.requires.devices)
