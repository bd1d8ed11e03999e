"""The opcodes that the interpreter implements, collected from its tables. Every other opcode raises Unsupported."""

from __future__ import annotations

from expctl.gfx11.access import atomic, flat, global_access, lds_access, lds_permute
from expctl.gfx11.scalar import control, decode, load, trap
from expctl.gfx11.text.program import Instruction
from expctl.gfx11.vector import decode as vector
from expctl.gfx11.vector import dot, dual, lane, matrix, packed, permlane

VECTOR = frozenset((*vector.TABLE, *packed.NAMES, *lane.DECODERS, *dot.NAMES, *permlane.NAMES))
"""Vector opcodes without the suffix _e32 or _e64, which is optional in the text."""
OPCODES = frozenset((
    *VECTOR, *dual.NAMES, *matrix.OPS, *decode.NAMES, *load.NAMES, *global_access.NAMES, *atomic.NAMES, *flat.NAMES,
    *lds_access.NAMES, *lds_permute.NAMES, *control.NAMES, *control.LEAVES, *trap.NAMES,
))  # fmt: skip


def opcode_of(instruction: Instruction) -> str:
    """Return an instruction's opcode, without the suffix _e32 or _e64. Raises Unsupported for an unknown one."""
    name = instruction.mnemonic
    if name in OPCODES:
        return name
    base = vector.base_name(name)
    if base not in VECTOR:
        raise instruction.unsupported("unknown opcode")
    return base
