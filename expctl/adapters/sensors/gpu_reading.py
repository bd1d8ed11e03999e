"""The reading of a GPU, the same for all makers and tools, and the interface of what makes such readings (a source)."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReading:
    """One reading of one GPU; a figure that the GPU does not report is None.

    `throttles` are the reasons for which its clock is lowered now; `throttle_counts` maps a reason to a counter that grows
    while it applies. A power limit is not such a reason, because a loaded card runs at its limit: `power_w` is what it takes,
    `power_cap_w` the limit.
    """

    name: str
    busy_percent: float | None = None
    temperature_c: float | None = None
    critical_c: float | None = None
    clock_mhz: float | None = None
    power_w: float | None = None
    power_cap_w: float | None = None
    throttles: tuple[str, ...] = ()
    throttle_counts: Mapping[str, int] = field(default_factory=dict)


class GpuSource(Protocol):
    """Reads the GPUs of one maker, with a tool or from files of the kernel."""

    def why_absent(self) -> str:
        """Return why the source can't read any card; empty if it can."""

    def session(self) -> AbstractContextManager[object]:
        """Return a context in which `read` is called repeatedly; a source may keep its tool running in it."""
        return nullcontext()

    def read(self) -> tuple[GpuReading, ...] | None:
        """Return a reading of every visible card; None if the source's tool doesn't answer."""


def visible(names: str, index: int, uuid: str = "") -> bool:
    """Return whether `names`, the value of a variable such as CUDA_VISIBLE_DEVICES, lists the card `index` or `uuid`. True if
    it is empty, or has a word that is neither an index nor a UUID (e.g. -1).
    """
    words = [word.strip() for word in names.split(",") if word.strip()]
    if not words or not all(word.isdigit() or word.upper().startswith("GPU-") for word in words):
        return True
    return str(index) in words or any(uuid and uuid.upper().startswith(word.upper()) for word in words)
