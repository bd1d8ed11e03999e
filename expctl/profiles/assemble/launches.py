"""Correct the register counts of launch configurations, merge equal ones, and compute their occupancy."""

import math
from collections.abc import Iterable
from dataclasses import replace

from expctl.domain.errors import Refused
from expctl.gpu.architectures import ARCHITECTURES
from expctl.gpu.headroom import Usage
from expctl.gpu.occupancy import Occupancy, architecture, occupancy
from expctl.profiles.model.kernel_profile import GridUnit, Launch
from expctl.profiles.raw.profile import RawLaunch
from expctl.profiles.roofline.reported_registers import RegisterRules, corrected


def launches_of(
    raws: Iterable[tuple[RawLaunch, GridUnit, RegisterRules, int, int | None]],
) -> tuple[Launch, ...]:
    """Return the launch configurations of one kernel, most time first, with equal ones merged. Each of `raws` is (launch as
    reported, unit of its grid, rules to correct its registers, calls, total ns or None).
    """
    calls: dict[Launch, int] = {}
    times: dict[Launch, int] = {}
    for raw, unit, how, count, time in raws:
        launch = launch_of(raw, unit, how)
        calls[launch] = calls.get(launch, 0) + count
        if time is not None:
            times[launch] = times.get(launch, 0) + time
    ordered = sorted(calls, key=lambda each: (-times.get(each, 0), -calls[each]))
    return tuple(replace(each, calls=calls[each], total_ns=times.get(each)) for each in ordered)


def launch_of(raw: RawLaunch, unit: GridUnit, how: RegisterRules) -> Launch:
    """Return `raw` with corrected register counts (by `how`) and its number of workgroups; unknown figures are None. `unit`
    tells whether its grid counts work-items or workgroups.
    """
    registers = corrected(how, raw.vgpr, raw.accum, raw.sgpr)
    size = math.prod(raw.workgroup) if raw.workgroup else raw.workgroup_size
    return Launch(
        vgpr=registers.vgpr,
        agpr=registers.agpr,
        sgpr=registers.sgpr,
        lds_bytes=raw.lds_bytes,
        scratch_bytes=raw.scratch_bytes,
        grid=raw.grid,
        workgroup=raw.workgroup,
        workgroup_size=size,
        groups=_groups(raw, unit, size),
    )


def _groups(raw: RawLaunch, unit: GridUnit, size: int | None) -> int | None:
    if unit is GridUnit.UNSURE:
        return None
    if raw.grid is None:
        return -(-raw.grid_size // size) if raw.grid_size and size else None
    if unit is GridUnit.WORKGROUPS:
        return math.prod(raw.grid)
    if raw.workgroup is None:
        return None
    return math.prod(-(-items // of) for items, of in zip(raw.grid, raw.workgroup, strict=True))


class Occupancies:
    """Computes occupancies of launches, and caches them for launches that use equal resources."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int, int, int, int], tuple[Occupancy | None, str]] = {}

    def compute(self, launch: Launch, arch: str) -> tuple[Occupancy | None, str]:
        """Return the occupancy of `launch` on `arch` and "", or None and the reason why it is unknown."""
        if arch not in ARCHITECTURES:
            return None, f"no occupancy figures for {arch}" if arch else "the GPU isn't known"
        if launch.vgpr is None or launch.workgroup_size is None:
            return None, "registers or workgroup aren't known"
        key = (arch, launch.vgpr, launch.sgpr or 0, launch.lds_bytes or 0, launch.workgroup_size)
        if key not in self._seen:
            self._seen[key] = _computed(*key)
        return self._seen[key]


def _computed(arch: str, vgpr: int, sgpr: int, lds_bytes: int, workgroup: int) -> tuple[Occupancy | None, str]:
    usage = Usage(vgpr=vgpr, sgpr=min(sgpr, 128), lds_bytes=lds_bytes, workgroup=workgroup)
    try:
        return occupancy(architecture(arch), usage), ""
    except Refused as refusal:
        return None, f"{refusal.message}: {refusal.found}, where {refusal.expected} are allowed"
