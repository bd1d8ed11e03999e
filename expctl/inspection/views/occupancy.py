"""Occupancy as text: waves per SIMD, resident workgroups, and how far each resource is from changing them."""

from collections.abc import Sequence

from expctl.gpu.architectures import ModeName
from expctl.gpu.headroom import Headroom
from expctl.gpu.occupancy import Occupancy, Resident


def occupancy_lines(found: Occupancy) -> list[str]:
    """Return the lines that `expctl occupancy` prints about the occupancy of a kernel on a GPU."""
    nvidia = found.resident[0].mode is ModeName.SM
    label, unit = ("warps", "per scheduler") if nvidia else ("LLVM", "waves per SIMD")
    return [
        f"{found.arch}, waves of {found.wave}; {found.vgpr_allocated} VGPRs allocated",
        f"  {label:<9} {found.waves_per_simd} of {found.most_waves_per_simd} {unit}, limited by {found.limiter}; "
        f"{headroom_phrase(found.headroom)}",
        *(f"  {line}" for line in resident_lines(found.resident, found.naive_percent)),
    ]


def resident_lines(resident: Sequence[Resident], naive_percent: float | None) -> list[str]:
    """Return a line on the whole workgroups that fit on each kind of unit (WGP, CU or SM). Another line gives `naive_percent`,
    the common but wrong estimate of occupancy, unless it is None.
    """
    lines = [f"{'resident' if i == 0 else '':<9} {_resident_phrase(each)}" for i, each in enumerate(resident)]
    if resident and all(each.obstacle for each in resident):
        lines.insert(0, f"{'launch':<9} impossible: not one workgroup fits, though the compiler counts its waves")
    if naive_percent is not None:
        lines.append(f"{'naive':<9} {naive_percent:.2f} % (no granules, no whole workgroups: not what fits)")
    return lines


def _resident_phrase(each: Resident) -> str:
    if each.obstacle:
        return f"cannot be launched ({each.mode}): {each.obstacle}; {each.headroom.vgpr_fewer} fewer allow a launch"
    return (
        f"{each.percent:.2f} % ({each.mode}): {count(each.workgroups, 'workgroup')}, {count(each.waves, 'wave')}, "
        f"limited by {each.limiter}; {headroom_phrase(each.headroom)}"
    )


def headroom_phrase(room: Headroom) -> str:
    """Return the headroom of a wave count as text, e.g. `5 more VGPR keep it, 19 fewer give 9; 128 more B of LDS keep it`."""
    vgpr = _steps(room.vgpr_more, room.vgpr_left, room.vgpr_fewer, room.vgpr_fewer_gives, "VGPR")
    lds = _steps(room.lds_bytes_more, room.lds_bytes_left, room.lds_bytes_fewer, room.lds_bytes_fewer_gives, "B of LDS")
    return "; ".join((vgpr, lds))


def count(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural, e.g. `1 wave` or `2 waves`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _steps(more: int | None, left: int, fewer: int | None, gives: int | None, unit: str) -> str:
    if left == 0:
        kept = f"no more {unit} to be had"
    else:
        kept = f"all {left} more {unit} there are keep it" if more is None else f"{more} more {unit} keep it"
    return kept if fewer is None else f"{kept}, {fewer} fewer give {gives}"
