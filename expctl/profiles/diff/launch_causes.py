"""Rules about how a kernel was launched: problem, tile, shape. They redefine what is compared, so they are asked first.

Each takes both sides and how many times as long a call takes, and answers with words or with nothing.
"""

import math

from expctl.profiles.diff.figures import bytes_text, count_text, extent_text, times_text
from expctl.profiles.diff.kernel_evidence import KernelEvidence
from expctl.profiles.diff.noise import COUNT_PERCENT, differs, is_about, ratio

GROUPS_PERCENT = 10.0
A_PROBLEM, A_PROBLEM_MOST = 0.4, 1.6
"""Of the change of workgroups, as logarithms: what grows with the problem grows by so much of it at least and at most. The
products of a cube grow by 1.5 of it; whatever takes longer still has another cause as well.
"""
WORK_PERCENT = 5.0
"""Tiles of one problem store the same bytes, and multiply alike to within 0.7 % (the captures); a padded edge may add some."""


def size(before: KernelEvidence, after: KernelEvidence, slower: float) -> str:
    """Another number of workgroups of the same code, and more done in all."""
    groups, work = ratio(before.groups, after.groups), ratio(before.work, after.work)
    if groups is None or is_about(groups, GROUPS_PERCENT) or is_about(work, WORK_PERCENT):
        return ""
    if not _same_resources(before, after) or before.workgroup != after.workgroup:
        return ""
    instructions = ratio(before.instructions, after.instructions)
    grown = instructions if instructions is not None else slower
    if not A_PROBLEM <= _part(grown, groups) <= A_PROBLEM_MOST or not 0 < _part(slower, groups) <= A_PROBLEM_MOST:
        return ""
    more = f", {times_text(instructions)} the instructions" if instructions is not None else ""
    return (
        f"a {'larger' if groups > 1 else 'smaller'} problem: {extent_text(before.grid)} -> {extent_text(after.grid)} in the"
        f" grid at the same registers and LDS{more}"
    )


def tile(before: KernelEvidence, after: KernelEvidence, slower: float) -> str:
    """Fewer workgroups that hold more each, or more that hold less, for the same work. In a mere trace, time that goes along
    with the workgroups may be another problem as well as another tile, and nothing is said.
    """
    groups, work = ratio(before.groups, after.groups), ratio(before.work, after.work)
    if groups is None or is_about(groups, GROUPS_PERCENT) or differs(work, WORK_PERCENT):
        return ""
    instructions = ratio(before.instructions, after.instructions)
    if work is None and instructions is None and _part(slower, groups) >= A_PROBLEM:
        return ""
    lds, vgpr = ratio(before.lds_bytes, after.lds_bytes), ratio(before.vgpr, after.vgpr)
    larger = [each for each in (lds, vgpr) if differs(each, GROUPS_PERCENT)]
    # Fewer groups hold more each. Without a measure of the work only that tells a tile from a problem.
    if not larger or any(each is not None and (each > 1) == (groups > 1) for each in larger):
        return ""
    parts = [f"{count_text(before.groups)} -> {count_text(after.groups)} workgroups"]
    parts += [f"{bytes_text(before.lds_bytes)} -> {bytes_text(after.lds_bytes)} of LDS"] if differs(lds, GROUPS_PERCENT) else []
    parts += [f"{before.vgpr} -> {after.vgpr} registers"] if differs(vgpr, GROUPS_PERCENT) else []
    if instructions is not None and not -0.05 <= math.log(instructions) / math.log(groups) <= 0.5:
        return ""  # loads go with the root of the area, products not at all: this one does something else too
    loads = ratio(before.load_sectors, after.load_sectors)
    parts += (
        [f"{times_text(loads)} the loads from global memory"] if loads is not None and differs(loads, GROUPS_PERCENT) else []
    )
    return f"a {'smaller' if groups > 1 else 'larger'} tile: {', '.join(parts)}" + (
        " for the same output" if work is not None else ""
    )


def shape(before: KernelEvidence, after: KernelEvidence, _slower: float) -> str:
    """The same work-items in other workgroups."""
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


def _part(what: float, effect: float) -> float:
    """How much of `effect`, both as logarithms; below zero where they move in opposite ways."""
    return math.log(what) / math.log(effect)


def _same_resources(before: KernelEvidence, after: KernelEvidence) -> bool:
    return before.vgpr == after.vgpr and before.lds_bytes == after.lds_bytes


def _threads(signs: KernelEvidence) -> float | None:
    return signs.groups * signs.workgroup_size if signs.groups and signs.workgroup_size else None
