"""Upper limits that no GPU reaches: a larger figure means a damaged file, or is how the tool writes an unknown value."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from expctl.domain.text import one_line
from expctl.profiles.model.kernel_profile import Extent
from expctl.profiles.raw import refusals
from expctl.profiles.raw.profile import RawLaunch, RawProfile

BITS_64 = 1 << 63
NUMBER = 1e30
"""Limit of any counter's value; sums of larger numbers may overflow to infinity."""
DURATION_NS = 10**16
"""Limit of one kernel's or copy's duration: 116 days."""
# Several times what the largest GPU has: registers per wave, LDS per workgroup, scratch per work-item; grids of 2^32 per axis.
_MOST = {
    "vgpr": 4096, "accum": 4096, "sgpr": 4096, "lds_bytes": 4 << 20, "scratch_bytes": 1 << 32, "workgroup_size": 1 << 16,
    "grid_size": 1 << 62,
}  # fmt: skip
_EXTENT_MOST = {"grid": 1 << 32, "workgroup": 1 << 16}


def check_limits(part: RawProfile) -> list[str]:
    """Set impossible figures in the launches of `part` to None, and return a note about each field concerned. Raises Refused
    for an impossible duration or counter.
    """
    _check_times(part)
    _check_counters(part)
    seen: dict[str, str] = {}
    for key, raw in part.launches.items():
        if found := _impossible(raw):
            unknown: dict[str, Any] = dict.fromkeys(found)
            part.launches[key] = replace(raw, **unknown)
            seen = found | seen
    file = Path(part.file).name
    return [
        f"{name.replace('_', ' ')}: {text} is beyond what any GPU has; shown as unknown ({file})" for name, text in seen.items()
    ]


def _check_counters(part: RawProfile) -> None:
    for counted in part.counters.values():
        for name, each in counted.items():
            if not abs(each.total) < NUMBER * max(each.calls, 1):  # written so that NaN is refused too
                raise refusals.damaged(Path(part.file), f"a counter {one_line(name, 60)} of {each.total} in {each.calls} calls")


def _impossible(raw: RawLaunch) -> dict[str, str]:
    """Return the launch's fields that exceed what any GPU has, by name, with their values as text."""
    numbers = {name: getattr(raw, name) for name in _MOST}
    found = {name: str(value) for name, value in numbers.items() if value is not None and not 0 <= value <= _MOST[name]}
    extents: dict[str, Extent | None] = {name: getattr(raw, name) for name in _EXTENT_MOST}
    excessive = {name: each for name, each in extents.items() if each and max(each) > _EXTENT_MOST[name]}
    return found | {name: one_line("x".join(map(str, each)), 60) for name, each in excessive.items()}


def _check_times(part: RawProfile) -> None:
    kernels = [float(values[-1]) for values in part.timing.durations.values() if values]
    kernels += [each.total_ns / each.calls for each in part.statistics.values()]
    copies = [each.total_ns / each.calls for each in part.copies.values() if each.calls]
    for what, values in (("kernel", kernels), ("copy", copies)):
        if (longest := max(values, default=0.0)) > DURATION_NS:
            raise refusals.damaged(Path(part.file), f"a {what} that runs for {longest:.3g} ns")
