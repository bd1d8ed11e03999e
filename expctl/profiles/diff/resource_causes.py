"""Rules that explain a change of a kernel's time by register spills or occupancy.

`slower` is time after / before; below 1 the kernel became faster, and a rule looks for the opposite change.
"""

from expctl.profiles.diff.figures import bytes_text
from expctl.profiles.diff.kernel_evidence import KernelEvidence
from expctl.profiles.diff.noise import COUNT_PERCENT, differs, is_about, ratio

SPILL_PERCENT = 0.5
"""Least change of the share of spill instructions in all instructions; a prologue that saves registers has less."""
SCRATCH_BYTES = 16
"""Least change of scratch memory per work-item, in bytes, that can be a cause; alignment changes less."""
OCCUPANCY_PERCENT = 10.0


def spill(before: KernelEvidence, after: KernelEvidence, slower: float) -> str:
    """Return text about the change if register spills explain a change of time; else "". Spills are known from counts of spill
    instructions, or without these from the size of scratch memory.
    """
    known = None not in (before.vgpr, after.vgpr) and before.vgpr != after.vgpr
    registers = f" at {before.vgpr} -> {after.vgpr} registers" if known else ""
    if before.spills is not None and after.spills is not None and before.instructions and after.instructions:
        share = [100 * each for each in (before.spills / before.instructions, after.spills / after.instructions)]
        if abs(share[1] - share[0]) >= SPILL_PERCENT and (share[1] > share[0]) == (slower > 1):
            return f"registers spill: {share[0]:.1f} -> {share[1]:.1f} % of the instructions save and reload them{registers}"
        return ""
    if _uses_other_scratch(before, after, slower) and not _may_fit_other(before, after, slower):
        return (
            f"scratch memory {before.scratch_bytes} -> {after.scratch_bytes} B per work-item: registers that spill, or arrays"
            f"{registers}"
        )
    return ""


def _uses_other_scratch(before: KernelEvidence, after: KernelEvidence, slower: float) -> bool:
    if before.scratch_bytes is None or after.scratch_bytes is None:
        return False
    more = after.scratch_bytes - before.scratch_bytes
    return abs(more) >= SCRATCH_BYTES and (more > 0) == (slower > 1)


def _may_fit_other(before: KernelEvidence, after: KernelEvidence, slower: float) -> bool:
    """Return whether the number of workgroups that fit at once may explain the time: fewer for slower, more for faster."""
    if _all_at_once(before) and _all_at_once(after):
        return False
    resident = ratio(before.resident_percent, after.resident_percent)
    if resident is not None:
        return differs(resident, OCCUPANCY_PERCENT) and (resident < 1) == (slower > 1)
    taken = ((before.vgpr or 0, after.vgpr or 0), (before.lds_bytes or 0, after.lds_bytes or 0))
    return any(mine != its and (its > mine) == (slower > 1) for mine, its in taken)


def _moves_the_same(before: KernelEvidence, after: KernelEvidence) -> bool:
    sectors = ratio(before.load_sectors, after.load_sectors)
    shared = ratio(before.shared_wavefronts, after.shared_wavefronts)
    return is_about(sectors, COUNT_PERCENT) and is_about(shared, COUNT_PERCENT)


def _all_at_once(evidence: KernelEvidence) -> bool:
    return evidence.groups is not None and evidence.slots is not None and evidence.groups <= evidence.slots


def occupancy(before: KernelEvidence, after: KernelEvidence, slower: float) -> str:
    """Return text about the change if occupancy explains a change of time, with the code the same; else "". Both the possible
    occupancy and, where measured, the real one must have changed.
    """
    resident = ratio(before.resident_percent, after.resident_percent)
    measured = ratio(before.waves_percent, after.waves_percent)
    if resident is None or is_about(resident, OCCUPANCY_PERCENT) or (resident < 1) != (slower > 1):
        return ""
    if _all_at_once(before) and _all_at_once(after):
        return ""  # all workgroups fit at once on both sides
    if None in (before.spills, after.spills) and _uses_other_scratch(before, after, slower):
        return ""  # spilled registers may be the cause as well
    if before.vgpr != after.vgpr and not _moves_the_same(before, after):
        return ""  # the code changed in other ways as well
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
