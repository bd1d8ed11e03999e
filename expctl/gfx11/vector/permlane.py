"""Decode v_permlane16 and v_permlanex16: each lane takes the value of a lane of its own row of 16, or of the other row.

Two scalars hold 16 numbers of 4 bits: the lane that is read by each lane of a row. op_sel[0] is `fi`: inactive lanes may be
read too; op_sel[1] is bound_ctrl: 0 in place of what can't be read, where else the destination stays.
"""

from __future__ import annotations

import numpy as np

from expctl.gfx11.machine.arrays import ALL_BITS, LANES
from expctl.gfx11.machine.step import Run
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.operands.scalar import scalar_source
from expctl.gfx11.text.operand import Kind
from expctl.gfx11.text.program import Instruction
from expctl.gfx11.vector.packed import bits_of_modifier

_LANE = np.arange(LANES)
NAMES = frozenset(("v_permlane16_b32", "v_permlanex16_b32"))


def decode_permlane(instruction: Instruction, name: str) -> Run:
    """Return the function that executes a v_permlane on a wave. Raises Unsupported for other operands or modifiers."""
    fields = instruction.fields()
    if len(fields.operands) != 4 or fields.modifiers.keys() - {"op_sel"}:
        raise instruction.unsupported("operands not of the form v, v, scalar, scalar")
    destination, given, *which = fields.operands
    if destination.kind is not Kind.VECTOR or given.kind is not Kind.VECTOR:
        raise instruction.unsupported("the first two operands are not vector registers")
    d, n, line = destination.index, given.index, instruction.line
    low, high = (scalar_source(instruction, x) for x in which)
    inactive_too, zeros = bits_of_modifier(instruction, fields.modifiers.get("op_sel"), 2, 0)
    rows = (_LANE & 16) ^ (16 if name == "v_permlanex16_b32" else 0)
    keys = (n, *low.keys, *high.keys)

    def run(wave: Wave) -> None:
        wave.check_waited(line, (*keys, d))
        chosen = low.read(wave) | high.read(wave) << 32
        lanes = rows + np.array([chosen >> 4 * lane & 15 for lane in range(16)] * 2)
        readable = np.ones(LANES, dtype=np.bool_) if inactive_too else wave.lanes[lanes]
        writes = wave.lanes if zeros else wave.lanes & readable
        nothing = np.uint32(0)
        values = np.where(readable, wave.u32[n][lanes], nothing)
        undefined = np.where(readable, wave.vector_undefined[n][lanes], nothing)
        if low.undefined(wave) or high.undefined(wave):
            undefined = np.full(LANES, ALL_BITS, dtype=np.uint32)
        np.copyto(wave.u32[d], values, where=writes)
        np.copyto(wave.vector_undefined[d], undefined, where=writes)
        wave.refresh(d)

    return run
