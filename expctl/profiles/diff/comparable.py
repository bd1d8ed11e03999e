"""Whether two profiles may be held against each other at all, and whether a kernel changed by itself or all of them did."""

import math
from collections.abc import Iterable

from expctl.profiles.diff.kernel_evidence import KernelEvidence
from expctl.profiles.diff.noise import ratio
from expctl.profiles.model.kernel_profile import Device, Profile, Source

ALONE_AT_LEAST = 0.5
"""Other kernels that moved by this much of a kernel's change, as logarithms, say that it isn't the kernel's own."""
_ALIKE = {Source.NCU_DETAILS: Source.NCU_RAW}
"""Two pages of one report."""


def why_apart(before: Profile, after: Profile) -> str:
    """What makes a reason impossible: another GPU, or a tool that measures otherwise; "" where nothing does.

    What a file doesn't say of its GPU is no difference.
    """
    if _ALIKE.get(before.source, before.source) is not _ALIKE.get(after.source, after.source):
        return f"before is a {before.source}, after a {after.source}: these measure times and resources in different ways"
    mine, its = _gpus(before.devices), _gpus(after.devices)
    for left, right in zip(mine, its, strict=True):
        if left and right and left != right:
            return f"before ran on {_listed(left)}, after on {_listed(right)}"
    return ""


def moved_along(slower: float, others: Iterable[tuple[KernelEvidence, KernelEvidence]]) -> bool:
    """Did kernels that were launched in the same way as before change as well, the same way and by much of it?

    `others` are pairs without the one that became `slower` times as long.
    """
    same = [(mine, its) for mine, its in others if _launch(mine) == _launch(its) and mine.time_ns and its.time_ns]
    times = [math.fsum((pair[side].time_ns or 0.0) * pair[0].calls for pair in same) for side in (0, 1)]
    change = ratio(*times)
    return change is not None and math.log(change) / math.log(slower) >= ALONE_AT_LEAST


def _launch(signs: KernelEvidence) -> tuple[object, ...]:
    return signs.vgpr, signs.lds_bytes, signs.scratch_bytes, signs.grid, signs.workgroup_size, signs.groups


def _gpus(devices: Iterable[Device]) -> tuple[set[str], set[str], set[str]]:
    """What is told of them, from the coarsest to the finest."""
    known = tuple(devices)
    return (
        {each.arch for each in known if each.arch},
        {each.product for each in known if each.product},
        {f"{each.units} units" for each in known if each.units},
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
