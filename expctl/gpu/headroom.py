"""Compute how many more or fewer registers or bytes of LDS a kernel could use before its occupancy changes."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from expctl.gpu.architectures import Architecture


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Resources of one kernel: VGPRs (with accumulation registers) and SGPRs per wave, LDS bytes, work-items per workgroup."""

    vgpr: int
    sgpr: int
    lds_bytes: int
    workgroup: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """How far a kernel's VGPRs and LDS bytes are from changing a figure such as waves per SIMD, with all else equal.

    `..._more` is the most that can be added without lowering the figure, `..._fewer` the least that must be saved to raise it,
    `..._fewer_gives` the figure after that saving. A field is None where no permitted amount changes the figure. `..._left` is
    how much more the GPU can give to a kernel at all; 0 at its limit, where nothing can be added.
    """

    vgpr_more: int | None
    vgpr_fewer: int | None
    vgpr_fewer_gives: int | None
    lds_bytes_more: int | None
    lds_bytes_fewer: int | None
    lds_bytes_fewer_gives: int | None
    vgpr_left: int
    lds_bytes_left: int


def headroom(gpu: Architecture, usage: Usage, figure: Callable[[Usage], int]) -> Headroom:
    """Return how many VGPRs and LDS bytes separate `usage` from a lower or higher value of `figure`. `figure` computes the
    value, e.g. waves per SIMD, from a usage. It must never rise when a usage has more registers or LDS.
    """

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
        vgpr_left=gpu.vgpr_most - usage.vgpr,
        lds_bytes_left=gpu.lds_most - usage.lds_bytes,
    )


def _more(figure: Callable[[int], int], now: int, most: int) -> int | None:
    """Return the largest n for which figure(now + n) equals figure(now); None if figure(most) equals it too. `most` is the
    highest value that the GPU permits.
    """
    low, high = now, most + 1
    if now >= most or figure(most) == figure(now):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if figure(middle) == figure(now) else (low, middle)
    return low - now


def _fewer(figure: Callable[[int], int], now: int) -> int | None:
    """Return the smallest n for which figure(now - n) exceeds figure(now); None if even figure(0) doesn't."""
    low, high = 0, now
    if figure(0) == figure(now):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if figure(middle) > figure(now) else (low, middle)
    return now - low
