"""Decide whether two profiles can be compared at all, and whether a kernel became slower alone or together with others."""

import math
from collections.abc import Iterable

from expctl.profiles.diff.kernel_evidence import KernelEvidence
from expctl.profiles.diff.noise import ratio
from expctl.profiles.model.kernel_profile import Device, Profile, Source

ALONE_AT_LEAST = 0.5
"""Least log(change of other kernels) / log(change of one kernel) for which the cause must be common to all of them."""
_ALIKE = {Source.NCU_DETAILS: Source.NCU_RAW}
"""Sources that count as equal: two pages of one Nsight Compute report."""


def why_incomparable(before: Profile, after: Profile) -> str:
    """Return in words why two profiles can't be compared (other GPUs, other kinds of tools); "" if they can. A fact about the
    GPU that only one of them contains is ignored.
    """
    if _ALIKE.get(before.source, before.source) is not _ALIKE.get(after.source, after.source):
        return f"before is a {before.source}, after a {after.source}: these measure times and resources in different ways"
    mine, its = _gpus(before.devices), _gpus(after.devices)
    for left, right in zip(mine, its, strict=True):
        if left and right and left != right:
            return f"before ran on {_listed(left)}, after on {_listed(right)}"
    return ""


def moved_along(slower: float, others: Iterable[tuple[KernelEvidence, KernelEvidence]]) -> bool:
    """Return whether other kernels changed in time as well; `slower` is one kernel's ratio of times after / before.

    `others` are (before, after) pairs of the other kernels, of which only those with unchanged launch configurations count. The
    log of the ratio of their total times must be at least half of log(slower).
    """
    same = [(mine, its) for mine, its in others if _launch(mine) == _launch(its) and mine.time_ns and its.time_ns]
    times = [math.fsum((pair[side].time_ns or 0.0) * pair[0].calls for pair in same) for side in (0, 1)]
    change = ratio(*times)
    return change is not None and math.log(change) / math.log(slower) >= ALONE_AT_LEAST


def _launch(evidence: KernelEvidence) -> tuple[object, ...]:
    return evidence.vgpr, evidence.lds_bytes, evidence.scratch_bytes, evidence.grid, evidence.workgroup_size, evidence.groups


def _gpus(devices: Iterable[Device]) -> tuple[set[str], set[str], set[str]]:
    known = tuple(devices)
    return (
        {each.arch for each in known if each.arch},
        {each.product for each in known if each.product},
        {f"{each.units} units" for each in known if each.units},
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
