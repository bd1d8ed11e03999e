"""Find the cause of a change of a kernel's time, where the figures of two profiles leave only one.

A rule for a cause holds if the figure that it looks at changed by enough and in the direction that explains the time, while the
work stayed the same. Usually no rule holds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from expctl.profiles.diff import work_causes
from expctl.profiles.diff.kernel_evidence import KernelEvidence
from expctl.profiles.diff.launch_causes import WORK_PERCENT, shape, size, tile
from expctl.profiles.diff.noise import CYCLES_PERCENT, clock_change, is_about, ratio, slowdown
from expctl.profiles.diff.resource_causes import occupancy, spill


class CauseKind(StrEnum):
    """Causes that `profile diff` can name for a change of a kernel's time, e.g. clock, problem size, spills, DRAM traffic."""

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
    """A cause of a kernel's change of time; `words` describe it, e.g. `the clock went from 2900 to 2600 MHz (-10.3 %)`."""

    kind: CauseKind
    words: str


def cause_of(before: KernelEvidence, after: KernelEvidence) -> Cause | None:
    """Return why a kernel's time changed, by the first rule that holds; None if no rule holds or two causes are possible. Rules
    on how the kernel was run (clock, problem size, tile) come before those on what happens within it.
    """
    if (clock := clock_change(before, after)) is not None and not _is_other_launch(before, after):
        words = f"the clock went from {before.clock_mhz:.0f} to {after.clock_mhz:.0f} MHz ({100 * (clock - 1):+.1f} %)"
        return Cause(kind=CauseKind.CLOCK, words=f"{words}; {_cycles_words(before, after)}")
    slower = slowdown(before, after)
    if slower is None:
        return None
    other_problem = _may_be_other_problem(before, after)
    for kind, rule in _RULES:
        if kind in _OF_ONE_PROBLEM and other_problem:
            continue  # a larger problem may explain the time as well
        if words := rule(before, after, slower):
            if kind in _NO_MORE_CODE and work_causes.instructions_explain_half(before, after, slower):
                return None  # two possible causes
            more = [rule(before, after, slower) for _, rule in _BESIDES if kind in _REDEFINING]
            return Cause(kind=kind, words="; and ".join([words, *filter(None, more)]))
    return None


def _cycles_words(before: KernelEvidence, after: KernelEvidence) -> str:
    cycles = ratio(before.cycles, after.cycles)
    if cycles is None or is_about(cycles, CYCLES_PERCENT):
        return "the cycles are the same"
    return f"the cycles change by only {100 * (cycles - 1):+.1f} %"


def _is_other_launch(before: KernelEvidence, after: KernelEvidence) -> bool:
    return before.groups is not None and after.groups is not None and before.groups != after.groups


def _may_be_other_problem(before: KernelEvidence, after: KernelEvidence) -> bool:
    return _is_other_launch(before, after) and not is_about(ratio(before.work, after.work), WORK_PERCENT)


Rule = Callable[[KernelEvidence, KernelEvidence, float], str]
_RULES: tuple[tuple[CauseKind, Rule], ...] = (
    (CauseKind.SIZE, size),
    (CauseKind.TILE, tile),
    (CauseKind.SHAPE, shape),
    (CauseKind.SPILL, spill),
    (CauseKind.COALESCING, work_causes.loads_scattered),
    (CauseKind.NARROW, work_causes.loads_narrow),
    (CauseKind.CONFLICTS, work_causes.shared_conflicts),
    (CauseKind.BARRIERS, work_causes.barriers),
    (CauseKind.OCCUPANCY, occupancy),
    (CauseKind.INSTRUCTIONS, work_causes.busier_pipe),
    (CauseKind.TRAFFIC, work_causes.traffic),
    (CauseKind.LATENCY, work_causes.waiting),
)
_REDEFINING = (CauseKind.SIZE, CauseKind.TILE, CauseKind.SHAPE)
_OF_ONE_PROBLEM = (CauseKind.SPILL, CauseKind.COALESCING, CauseKind.TRAFFIC)
"""Causes whose figures also grow with the problem; not named where the problem may have changed."""
_NO_MORE_CODE = (
    CauseKind.SPILL, CauseKind.COALESCING, CauseKind.CONFLICTS, CauseKind.BARRIERS, CauseKind.OCCUPANCY, CauseKind.TRAFFIC,
)  # fmt: skip
"""Causes that don't add instructions: where many were added, these may be the cause instead."""
_BESIDES = tuple((kind, rule) for kind, rule in _RULES if kind in (CauseKind.SPILL, CauseKind.COALESCING))
"""Causes that are named together with another tile or problem, because they can be told apart from it."""
