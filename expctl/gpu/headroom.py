"""Resources that a kernel uses, and how much more or less of each would change its occupancy."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from expctl.gpu.architectures import Architecture


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Resources of one kernel: registers per wave (`vgpr` with accumulation registers), LDS and work-items per workgroup."""

    vgpr: int
    sgpr: int
    lds_bytes: int
    workgroup: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """How far a resource is from changing a figure (e.g. waves): `more` can be added without loss, `fewer` must go for a gain.

    `fewer_gives` is the figure after that saving. None where no amount within the limits changes the figure.
    """

    vgpr_more: int | None
    vgpr_fewer: int | None
    vgpr_fewer_gives: int | None
    lds_bytes_more: int | None
    lds_bytes_fewer: int | None
    lds_bytes_fewer_gives: int | None


def headroom(gpu: Architecture, usage: Usage, figure: Callable[[Usage], int]) -> Headroom:
    """Return how far `usage` is from the next change of `figure`, which must never rise with more registers or LDS."""

    def with_vgpr(vgpr: int) -> int:
        return figure(replace(usage, vgpr=vgpr))

    def with_lds(lds_bytes: int) -> int:
        return figure(replace(usage, lds_bytes=lds_bytes))

    vgpr_fewer, lds_fewer = _fewer(with_vgpr, usage.vgpr), _fewer(with_lds, usage.lds_bytes)
    return Headroom(
        vgpr_more=_more(with_vgpr, usage.vgpr, gpu.vgpr_most),
        vgpr_fewer=vgpr_fewer,
        vgpr_fewer_gives=None if vgpr_fewer is None else with_vgpr(usage.vgpr - vgpr_fewer),
        lds_bytes_more=_more(with_lds, usage.lds_bytes, gpu.lds_most),
        lds_bytes_fewer=lds_fewer,
        lds_bytes_fewer_gives=None if lds_fewer is None else with_lds(usage.lds_bytes - lds_fewer),
    )


def _more(figure: Callable[[int], int], now: int, most: int) -> int | None:
    """Return the most that can be added to `now` without lowering `figure`; None when even `most` lowers nothing."""
    low, high = now, most + 1
    if now >= most or figure(most) == figure(now):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if figure(middle) == figure(now) else (low, middle)
    return low - now


def _fewer(figure: Callable[[int], int], now: int) -> int | None:
    """Return the least that must be taken from `now` to raise `figure`; None when even 0 raises nothing."""
    low, high = 0, now
    if figure(0) == figure(now):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if figure(middle) > figure(now) else (low, middle)
    return now - low
