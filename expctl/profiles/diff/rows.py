"""Rows that compare the figures of one kernel in two profiles: those that differ by more than noise, and changed resources."""

from collections.abc import Mapping
from dataclasses import dataclass

from expctl.profiles.diff.figures import count_text, extent_text
from expctl.profiles.diff.kernel_evidence import CYCLES, PIPES, STALLS, KernelEvidence
from expctl.profiles.diff.noise import CLOCK_PERCENT, COUNT_PERCENT, CYCLES_PERCENT, differs, ratio
from expctl.profiles.diff.run_change import KernelChange

PIPE_POINTS = 5.0
"""Least change of a pipe's use that is shown, in percentage points."""
WAIT_PERCENT = 10.0
WAIT_SHARE = 0.05
"""Least share of all waiting from which on a reason to wait is shown."""
COUNTER_PERCENT = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure of a kernel in two profiles, as text; `ratio` is after / before, None for figures without a ratio."""

    what: str
    before: str
    after: str
    ratio: float | None = None


def rows_of(change: KernelChange) -> tuple[Row, ...]:
    """Return a row for each figure that differs before and after: launch, resources, clock, instructions, pipes, waiting."""
    before, after = change.before, change.after
    rows = [*_launch_rows(before, after), *_count_rows(before, after), *_pipe_rows(before, after), *_wait_rows(before, after)]
    return tuple(rows)


def counter_rows(before: Mapping[str, float], after: Mapping[str, float]) -> tuple[Row, ...]:
    """Return a row for each hardware counter in both profiles that changed by more than 10 %, except cycles."""
    return tuple(
        Row(what=name, before=f"{before[name]:.6g}", after=f"{after[name]:.6g}", ratio=ratio(before[name], after[name]))
        for name in sorted(before.keys() & after.keys() - {CYCLES})
        if differs(ratio(before[name], after[name]), COUNTER_PERCENT) or (before[name] == 0) != (after[name] == 0)
    )


def _launch_rows(before: KernelEvidence, after: KernelEvidence) -> list[Row]:
    counts = (
        ("VGPRs", before.vgpr, after.vgpr),
        ("LDS, B", before.lds_bytes, after.lds_bytes),
        ("scratch, B", before.scratch_bytes, after.scratch_bytes),
    )
    shapes = (("grid", _grid(before), _grid(after)), ("workgroup", _workgroup(before), _workgroup(after)))
    rows = [Row(what=what, before=mine, after=its) for what, mine, its in shapes if mine != its and mine and its]
    rows += [
        Row(what=what, before=str(mine), after=str(its), ratio=ratio(mine, its))
        for what, mine, its in counts
        if mine != its and mine is not None and its is not None
    ]
    if before.resident_percent is not None and after.resident_percent is not None:
        texts = [f"{each.resident_percent:.1f} % ({each.limiter})" for each in (before, after)]
        rows += [Row(what="occupancy that fits", before=texts[0], after=texts[1])] if texts[0] != texts[1] else []
    return rows


def _grid(evidence: KernelEvidence) -> str:
    """Return the grid, else the number of workgroups; "" if neither is known."""
    if evidence.grid is not None:
        return extent_text(evidence.grid)
    return f"{evidence.groups} groups" if evidence.groups is not None else ""


def _workgroup(evidence: KernelEvidence) -> str:
    if evidence.workgroup is not None:
        return extent_text(evidence.workgroup)
    return str(evidence.workgroup_size or "")


def _count_rows(before: KernelEvidence, after: KernelEvidence) -> list[Row]:
    counts = (
        ("clock, MHz", before.clock_mhz, after.clock_mhz, CLOCK_PERCENT),
        ("cycles", before.cycles, after.cycles, CYCLES_PERCENT),
        ("occupancy measured, %", before.waves_percent, after.waves_percent, COUNT_PERCENT),
        ("instructions", before.instructions, after.instructions, COUNT_PERCENT),
        ("spill instructions", before.spills, after.spills, COUNT_PERCENT),
        ("global load instructions", before.load_requests, after.load_requests, COUNT_PERCENT),
        ("global sectors loaded", before.load_sectors, after.load_sectors, COUNT_PERCENT),
        ("bytes used per sector", before.bytes_used, after.bytes_used, COUNT_PERCENT),
        ("shared memory instructions", before.shared_requests, after.shared_requests, COUNT_PERCENT),
        ("shared memory turns", before.shared_wavefronts, after.shared_wavefronts, COUNT_PERCENT),
        ("bank conflicts", before.conflicts, after.conflicts, COUNT_PERCENT),
        ("DRAM bytes", before.dram_bytes, after.dram_bytes, WAIT_PERCENT),
    )
    return [
        Row(what=what, before=count_text(mine), after=count_text(its), ratio=ratio(mine, its))
        for what, mine, its, percent in counts
        if mine is not None and its is not None and (differs(ratio(mine, its), percent) or (mine == 0) != (its == 0))
    ]


def _pipe_rows(before: KernelEvidence, after: KernelEvidence) -> list[Row]:
    return [
        Row(what=f"pipe for {words}, % busy", before=f"{before.pipes[name]:.1f}", after=f"{after.pipes[name]:.1f}")
        for name, words in PIPES.items()
        if name in before.pipes and name in after.pipes and abs(after.pipes[name] - before.pipes[name]) >= PIPE_POINTS
    ]


def _wait_rows(before: KernelEvidence, after: KernelEvidence) -> list[Row]:
    rows = []
    for name, words in STALLS.items():
        mine, its = before.waits.get(name), after.waits.get(name)
        least = WAIT_SHARE * max(before.warp_cycles or 0.0, after.warp_cycles or 0.0)
        if mine is not None and its is not None and max(mine, its) >= least and differs(ratio(mine, its), WAIT_PERCENT):
            what = f"warp-cycles waiting for {words}"
            rows.append(Row(what=what, before=count_text(mine), after=count_text(its), ratio=ratio(mine, its)))
    return rows
