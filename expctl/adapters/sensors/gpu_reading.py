"""What one look at one GPU gives, whoever made the card and whatever was asked."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReading:
    """One card. None is what it does not say.

    `throttles` are reasons that hold now, `throttle_counts` those that the card counts up; power limits are not among them,
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
    """One way to ask the cards of one maker."""

    def absent(self) -> str:
        """Why it can't tell anything; empty when it can."""

    def session(self) -> AbstractContextManager[object]:
        """Entered while cards are read again and again."""

    def read(self) -> tuple[GpuReading, ...] | None:
        """Every card; None when nobody answers."""


def visible(names: str, index: int, uuid: str = "") -> bool:
    """May card `index` be used by HIP_VISIBLE_DEVICES or CUDA_VISIBLE_DEVICES? What is no list of cards hides none."""
    words = [word.strip() for word in names.split(",") if word.strip()]
    if not words or not all(word.isdigit() or word.upper().startswith("GPU-") for word in words):
        return True
    return str(index) in words or any(uuid and uuid.upper().startswith(word.upper()) for word in words)
