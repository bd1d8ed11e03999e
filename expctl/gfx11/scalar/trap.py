"""Decode a trap: a failed assertion, abort() or __trap() stops the kernel, and is a fault of the threads that are active."""

from __future__ import annotations

import re

from expctl.gfx11.machine.arrays import LANES
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.schedule import END
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.scalar.control import Leave
from expctl.gfx11.text.program import Instruction

ABORT = "2"
"""The trap that clang writes for __builtin_trap(); others are the debugger's."""
ENDS_BLOCK = re.compile(r"^s_(trap|sethalt)$")
NAMES = frozenset(("s_trap", "s_sethalt"))


def decode_trap(instruction: Instruction) -> Leave:
    """Decode `s_trap 2`, and `s_sethalt`, which stands where gfx1100 comes when its trap handler is missing. Either ends the
    wave. Raises Unsupported for another trap.
    """
    if instruction.mnemonic == "s_sethalt":
        return lambda wave: END
    if instruction.rest != ABORT:
        raise instruction.unsupported("a trap other than that of __builtin_trap()")
    line = instruction.line

    def leave(wave: Wave) -> int:
        lanes = [lane for lane in range(LANES) if wave.exec >> lane & 1]
        first = LANES * wave.index + (lanes[0] if lanes else 0)
        more = f" and {len(lanes) - 1} more of its wave" if len(lanes) > 1 else ""
        wave.fault(FaultKind.TRAP, line, f"thread {first} of workgroup {wave.group.index}{more} stops here")
        return END

    return leave
