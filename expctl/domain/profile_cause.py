"""The cause of a change of one kernel, where the figures of two profiles leave only one. Each rule is a small witness: it speaks
when what it looks at moved far enough, moved the way the time did, and the work stayed the same. Silence is the usual answer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from expctl.domain.kernel_signs import Signs
from expctl.domain.profile_noise import COUNT_PERCENT, clock_change, differs, is_about, ratio, slowdown
from expctl.domain.profile_words import bytes_text, count_text, extent_text, times_text
from expctl.domain.work_causes import barriers, busier_pipe, loads_apart, loads_narrow, shared_conflicts, traffic, waiting


class CauseKind(StrEnum):
    """What can be named."""

    CLOCK = "clock"
    SIZE = "problem size"
    TILE = "tile"
    SHAPE = "launch shape"
    SPILL = "spills"
    COALESCING = "uncoalesced loads"
    NARROW = "narrow loads"
    CONFLICTS = "bank conflicts"
    BARRIERS = "barriers"
    OCCUPANCY = "occupancy"
    INSTRUCTIONS = "instructions"
    TRAFFIC = "DRAM traffic"
    LATENCY = "latency"
    KERNEL = "another kernel"
    EXTRA = "extra kernel"
    MISSING = "missing kernel"
    CALLS = "calls"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """`words` end a sentence that begins with the kernel and how much its time changed."""

    kind: CauseKind
    words: str


SPILL_PERCENT = 0.5
"""Of all instructions: fewer are the few registers of a prologue."""
OCCUPANCY_PERCENT = 10.0
GROUPS_PERCENT = 10.0
STORED_PERCENT = 10.0
"""What is stored differs a little between tiles of one problem: partial sectors at their edges."""


def cause_of(before: Signs, after: Signs) -> Cause | None:
    """The first rule that holds; the order is from what redefines the comparison to what merely happens within a kernel."""
    if (clock := clock_change(before, after)) is not None and not _is_other_launch(before, after):
        words = f"the clock went from {before.clock_mhz:.0f} to {after.clock_mhz:.0f} MHz ({100 * (clock - 1):+.1f} %)"
        return Cause(kind=CauseKind.CLOCK, words=f"{words}; the cycles are the same")
    slower = slowdown(before, after)
    if slower is None:
        return None
    for kind, rule in _RULES:
        if words := rule(before, after, slower):
            return Cause(kind=kind, words=words)
    return None


def _is_other_launch(before: Signs, after: Signs) -> bool:
    return before.groups is not None and after.groups is not None and before.groups != after.groups


def _size(before: Signs, after: Signs, slower: float) -> str:
    groups, stored = ratio(before.groups, after.groups), ratio(before.stored, after.stored)
    if groups is None or is_about(groups, GROUPS_PERCENT) or is_about(stored, STORED_PERCENT):
        return ""
    if not _same_resources(before, after) or before.workgroup != after.workgroup:
        return ""
    instructions = ratio(before.instructions, after.instructions)
    grown = instructions if instructions is not None else slower
    if not _explains(grown, groups, 0.4):
        return ""
    more = f", {times_text(instructions)} the instructions" if instructions is not None else ""
    return (
        f"a {'larger' if groups > 1 else 'smaller'} problem: {extent_text(before.grid)} -> {extent_text(after.grid)} in the grid of"
        f" the same code{more}"
    )


def _tile(before: Signs, after: Signs, slower: float) -> str:
    groups, stored = ratio(before.groups, after.groups), ratio(before.stored, after.stored)
    if groups is None or is_about(groups, GROUPS_PERCENT) or differs(stored, STORED_PERCENT):
        return ""
    lds, vgpr = ratio(before.lds_bytes, after.lds_bytes), ratio(before.vgpr, after.vgpr)
    larger = [each for each in (lds, vgpr) if differs(each, GROUPS_PERCENT)]
    # Fewer groups hold more each. Without a measure of the work only that tells a tile from a problem.
    if not larger or any(each is not None and (each > 1) == (groups > 1) for each in larger):
        return ""
    parts = [f"{count_text(before.groups)} -> {count_text(after.groups)} workgroups"]
    parts += [f"{bytes_text(before.lds_bytes)} -> {bytes_text(after.lds_bytes)} of LDS"] if differs(lds, GROUPS_PERCENT) else []
    parts += [f"{before.vgpr} -> {after.vgpr} registers"] if differs(vgpr, GROUPS_PERCENT) else []
    loads = ratio(before.load_sectors, after.load_sectors)
    parts += [f"{times_text(loads)} the loads from global memory"] if differs(loads, GROUPS_PERCENT) else []
    return f"a {'smaller' if groups > 1 else 'larger'} tile: {', '.join(parts)}" + (
        " for the same output" if stored is not None else ""
    )


def _shape(before: Signs, after: Signs, slower: float) -> str:
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


def _spill(before: Signs, after: Signs, slower: float) -> str:
    registers = f" at {before.vgpr} -> {after.vgpr} registers" if before.vgpr != after.vgpr else ""
    if before.spills is not None and after.spills is not None and before.instructions and after.instructions:
        share = [100 * each for each in (before.spills / before.instructions, after.spills / after.instructions)]
        if abs(share[1] - share[0]) >= SPILL_PERCENT and (share[1] > share[0]) == (slower > 1):
            return f"registers spill: {share[0]:.1f} -> {share[1]:.1f} % of the instructions save and reload them{registers}"
        return ""
    scratch = (before.scratch_bytes, after.scratch_bytes)
    if scratch[0] is not None and scratch[1] is not None and scratch[0] != scratch[1] and (scratch[1] > scratch[0]) == (slower > 1):
        return f"registers spill: {scratch[0]} -> {scratch[1]} B of scratch per work-item{registers}"
    return ""


def _occupancy(before: Signs, after: Signs, slower: float) -> str:
    resident = ratio(before.resident_percent, after.resident_percent)
    measured = ratio(before.waves_percent, after.waves_percent)
    if resident is None or is_about(resident, OCCUPANCY_PERCENT) or (resident < 1) != (slower > 1):
        return ""
    if measured is None and before.vgpr != after.vgpr:
        return ""  # other registers are other code, and nothing here says what else that code does
    if measured is not None and (is_about(measured, OCCUPANCY_PERCENT) or (measured < 1) != (slower > 1)):
        return ""
    same_code = ratio(before.instructions, after.instructions)
    if (measured is not None and not is_about(same_code, COUNT_PERCENT)) or before.groups != after.groups:
        return ""
    cause = {"lds": f"{bytes_text(before.lds_bytes)} -> {bytes_text(after.lds_bytes)} of LDS"}
    cause["vgpr"] = f"{before.vgpr} -> {after.vgpr} registers"
    limiter = after.limiter if resident < 1 else before.limiter
    why = f" ({cause[limiter]})" if limiter in cause else ""
    how = f"; measured {before.waves_percent:.0f} -> {after.waves_percent:.0f} %" if measured is not None else ""
    return f"occupancy {before.resident_percent:.0f} -> {after.resident_percent:.0f} %{why}{how}"


def _explains(what: float | None, effect: float, share: float) -> bool:
    """Does `what` move the same way, by at least `share` of `effect`, both as logarithms?"""
    return what is not None and math.log(what) / math.log(effect) >= share


def _same_resources(before: Signs, after: Signs) -> bool:
    return before.vgpr == after.vgpr and before.lds_bytes == after.lds_bytes


def _threads(signs: Signs) -> float | None:
    return signs.groups * signs.workgroup_size if signs.groups and signs.workgroup_size else None


Rule = Callable[[Signs, Signs, float], str]
_RULES: tuple[tuple[CauseKind, Rule], ...] = (
    (CauseKind.SIZE, _size),
    (CauseKind.TILE, _tile),
    (CauseKind.SHAPE, _shape),
    (CauseKind.SPILL, _spill),
    (CauseKind.COALESCING, loads_apart),
    (CauseKind.NARROW, loads_narrow),
    (CauseKind.CONFLICTS, shared_conflicts),
    (CauseKind.BARRIERS, barriers),
    (CauseKind.OCCUPANCY, _occupancy),
    (CauseKind.INSTRUCTIONS, busier_pipe),
    (CauseKind.TRAFFIC, traffic),
    (CauseKind.LATENCY, waiting),
)
