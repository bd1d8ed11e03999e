"""Rules that explain a change of a kernel's time by another problem size, tile size or workgroup shape.

`slower` is time after / before; below 1 the kernel became faster, and a rule looks for the opposite change.
"""

import math

from expctl.profiles.diff.figures import bytes_text, count_text, extent_text, times_text
from expctl.profiles.diff.kernel_evidence import KernelEvidence
from expctl.profiles.diff.noise import COUNT_PERCENT, differs, is_about, ratio

GROUPS_PERCENT = 10.0
GROWTH_LEAST, GROWTH_MOST = 0.4, 1.6
"""Limits of log(growth) / log(factor of workgroups) for a figure that grows with the problem.

The multiplications of a cubic problem grow by 1.5; time that grows more has another cause as well.
"""
WORK_PERCENT = 5.0
"""Tolerance for equal work. Tiles of one problem multiply alike to within 0.7 % in our captures; padded edges add some."""


def size(before: KernelEvidence, after: KernelEvidence, slower: float) -> str:
    """Return text about the change if another problem size explains why the time is `slower` times as long; else "". That is so
    if the number of workgroups and the total work changed, and registers, LDS and workgroup shape did not.
    """
    groups, work = ratio(before.groups, after.groups), ratio(before.work, after.work)
    if groups is None or is_about(groups, GROUPS_PERCENT) or is_about(work, WORK_PERCENT):
        return ""
    if not _same_resources(before, after) or before.workgroup != after.workgroup:
        return ""
    instructions = ratio(before.instructions, after.instructions)
    grown = instructions if instructions is not None else slower
    if not GROWTH_LEAST <= _log_share(grown, groups) <= GROWTH_MOST or not 0 < _log_share(slower, groups) <= GROWTH_MOST:
        return ""
    more = f", {times_text(instructions)} the instructions" if instructions is not None else ""
    return (
        f"a {'larger' if groups > 1 else 'smaller'} problem: {extent_text(before.grid)} -> {extent_text(after.grid)} in the"
        f" grid at the same registers and LDS{more}"
    )


def tile(before: KernelEvidence, after: KernelEvidence, slower: float) -> str:
    """Return text about the change if another tile size explains why the time is `slower` times as long; else "".

    That is so if fewer, larger workgroups do the same work, or more, smaller ones. Without counters the result is "" if the
    time changed along with the number of workgroups, because then the problem may have changed.
    """
    groups, work = ratio(before.groups, after.groups), ratio(before.work, after.work)
    if groups is None or is_about(groups, GROUPS_PERCENT) or differs(work, WORK_PERCENT):
        return ""
    instructions = ratio(before.instructions, after.instructions)
    if work is None and instructions is None and _log_share(slower, groups) >= GROWTH_LEAST:
        return ""
    lds, vgpr = ratio(before.lds_bytes, after.lds_bytes), ratio(before.vgpr, after.vgpr)
    larger = [each for each in (lds, vgpr) if differs(each, GROUPS_PERCENT)]
    # Without a measure of the work, only larger resources of fewer workgroups tell a tile from a problem.
    if not larger or any(each is not None and (each > 1) == (groups > 1) for each in larger):
        return ""
    parts = [f"{count_text(before.groups)} -> {count_text(after.groups)} workgroups"]
    parts += [f"{bytes_text(before.lds_bytes)} -> {bytes_text(after.lds_bytes)} of LDS"] if differs(lds, GROUPS_PERCENT) else []
    parts += [f"{before.vgpr} -> {after.vgpr} registers"] if differs(vgpr, GROUPS_PERCENT) else []
    if instructions is not None and not -0.05 <= math.log(instructions) / math.log(groups) <= 0.5:
        return ""  # loads grow by the root of the area, products don't: other code changed too
    loads = ratio(before.load_sectors, after.load_sectors)
    if loads is not None and differs(loads, GROUPS_PERCENT):
        parts.append(f"{times_text(loads)} the loads from global memory")
    same = " for the same output" if work is not None else ""
    return f"a {'smaller' if groups > 1 else 'larger'} tile: {', '.join(parts)}{same}"


def shape(before: KernelEvidence, after: KernelEvidence, _slower: float) -> str:
    """Return text about the change if only the workgroup's shape changed; else "". The total number of work-items, the
    registers and the LDS must be the same, and the number of instructions about the same.
    """
    if before.workgroup is None or after.workgroup is None or before.grid is None or after.grid is None:
        return ""
    if before.workgroup == after.workgroup or not _same_resources(before, after):
        return ""
    threads = ratio(_threads(before), _threads(after))
    if not is_about(threads, COUNT_PERCENT) or differs(ratio(before.instructions, after.instructions), GROUPS_PERCENT):
        return ""
    return (
        f"another launch shape: workgroups of {extent_text(before.workgroup)} -> {extent_text(after.workgroup)}; registers, LDS"
        " and the number of work-items are the same"
    )


def _log_share(what: float, effect: float) -> float:
    return math.log(what) / math.log(effect)


def _same_resources(before: KernelEvidence, after: KernelEvidence) -> bool:
    return before.vgpr == after.vgpr and before.lds_bytes == after.lds_bytes


def _threads(evidence: KernelEvidence) -> float | None:
    return evidence.groups * evidence.workgroup_size if evidence.groups and evidence.workgroup_size else None
