"""Report accesses of global memory that conflict: as a race, or as a missing wait before a barrier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.memory import BASE

if TYPE_CHECKING:
    from expctl.gfx11.machine.accesses import Access
    from expctl.gfx11.machine.pieces import Pieces
    from expctl.gfx11.machine.wave import Wave


def report_conflicts(wave: Wave, line: int, others: list[Access], pieces: Pieces, does: str) -> None:
    """Report a fault for each of `others`, accesses of global memory that conflict with one at `line` to `pieces`."""
    for other in others:
        place = wave.group.memory.describe(int(pieces.where.min()) + BASE)
        most = wave.group.most_waves
        met = f"workgroup {other.group}, wave {other.agent % most}"
        if other.group == wave.group.index and other.begun < wave.group.epoch:
            what = f"{place} is what it {does}: that of {met} may outlast the barrier, nothing waits for it"
            wave.fault(FaultKind.MISSING_WAIT, line, what, other_line=other.line)
        else:
            whom = f"workgroup {wave.group.index}, wave {wave.index % most}"
            what = f"memory from {place} on that {whom} {does} and {met} touches, with nothing to order them"
            wave.fault(FaultKind.RACE, line, what, other_line=other.line)
