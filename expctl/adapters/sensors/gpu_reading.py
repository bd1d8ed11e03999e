"""The reading of a GPU, independent of its maker and of the tool, and the interface of a source of readings."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReading:
    """One reading of one GPU; None stands for what it does not report.

    `throttles` are reasons for which it is throttled now; `throttle_counts` (reason -> counter) grow while it is. Power limits
    are not among them, because a loaded card runs at its limit.
    """

    name: str
    busy_percent: float | None = None
    temperature_c: float | None = None
    critical_c: float | None = None
    clock_mhz: float | None = None
    throttles: tuple[str, ...] = ()
    throttle_counts: Mapping[str, int] = field(default_factory=dict)


class GpuSource(Protocol):
    """Reads the GPUs of one maker, by a tool or from files of the kernel."""

    def why_absent(self) -> str:
        """Return why the source can't read any card; empty if it can."""

    def session(self) -> AbstractContextManager[object]:
        """Return a context in which cards are read repeatedly; a source may keep its tool running in it."""
        return nullcontext()

    def read(self) -> tuple[GpuReading, ...] | None:
        """Return a reading of every visible card; None if the source doesn't answer."""


def visible(names: str, index: int, uuid: str = "") -> bool:
    """Does `names` (of *_VISIBLE_DEVICES) list the card? True if it is empty, or not only indices and UUIDs (e.g. -1)."""
    words = [word.strip() for word in names.split(",") if word.strip()]
    if not words or not all(word.isdigit() or word.upper().startswith("GPU-") for word in words):
        return True
    return str(index) in words or any(uuid and uuid.upper().startswith(word.upper()) for word in words)
