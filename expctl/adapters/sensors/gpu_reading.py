"""The reading of a GPU, independent of its maker and of the tool, and the interface of a source of readings."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReading:
    """One reading of one card; None is what the card does not report.

    `throttles` are reasons of throttling that hold now, `throttle_counts` counters by reason. Power limits are not among them,
    for a loaded card runs at its limit.
    """

    name: str
    busy_percent: float | None = None
    temperature_c: float | None = None
    critical_c: float | None = None
    clock_mhz: float | None = None
    throttles: tuple[str, ...] = ()
    throttle_counts: Mapping[str, int] = field(default_factory=dict)


class GpuSource(Protocol):
    """A source of readings of one maker's cards."""

    def absent(self) -> str:
        """Return why the source can't read any card; empty if it can."""

    def session(self) -> AbstractContextManager[object]:
        """Return a context to be held while cards are read repeatedly."""

    def read(self) -> tuple[GpuReading, ...] | None:
        """Return a reading of every visible card; None if the source doesn't answer."""


def visible(names: str, index: int, uuid: str = "") -> bool:
    """Is card `index` in `names`, as of HIP_VISIBLE_DEVICES or CUDA_VISIBLE_DEVICES? True if `names` is no list of cards."""
    words = [word.strip() for word in names.split(",") if word.strip()]
    if not words or not all(word.isdigit() or word.upper().startswith("GPU-") for word in words):
        return True
    return str(index) in words or any(uuid and uuid.upper().startswith(word.upper()) for word in words)
