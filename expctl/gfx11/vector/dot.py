"""Decode dot products of bytes and of nibbles: v_dot4 and v_dot8, on four or eight pairs in each lane, summed into 32 bits.

In v_dot4_i32_iu8 and v_dot8_i32_iu4, neg_lo says which of the two sources is signed. `clamp` limits the sum to its type.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from expctl.gfx11.machine.arrays import Anything
from expctl.gfx11.machine.step import Run
from expctl.gfx11.operands.vector_source import source
from expctl.gfx11.text.program import Instruction
from expctl.gfx11.vector.decode import bound_to, step_of
from expctl.gfx11.vector.operation import I32, U32, VectorOp
from expctl.gfx11.vector.packed import bits_of_modifier

_NAME = re.compile(r"v_dot[48]_(?P<sum>[iu])32_i?u(?P<bits>[48])")
NAMES = frozenset(("v_dot4_i32_iu8", "v_dot4_u32_u8", "v_dot8_i32_iu4", "v_dot8_u32_u4"))


def parts(words: Anything, bits: int, *, is_signed: bool) -> Anything:
    """Return the numbers of `bits` bits in uint32 words, the lowest first, as int64 with one axis more."""
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    found = (words[..., None] >> shifts & np.uint32((1 << bits) - 1)).astype(np.int64)
    return found - ((found >> (bits - 1)) << bits) if is_signed else found


def decode_dot(instruction: Instruction, name: str) -> Run:
    """Return the function that executes dot product `name` on a wave. Raises Unsupported for bad operands or modifiers."""
    match, fields = _NAME.fullmatch(name), instruction.fields()
    modifiers = dict(fields.modifiers)
    if match is None or len(fields.operands) != 4:
        raise instruction.unsupported("unknown opcode, or too many or too few operands")
    signed_sum, clamps = match["sum"] == "i", "clamp" in modifiers
    signs = bits_of_modifier(instruction, modifiers.pop("neg_lo", None), 3, 0) if signed_sum else [0, 0, 0]
    modifiers.pop("clamp", None)
    if modifiers or signs[2]:
        raise instruction.unsupported("a modifier that is not implemented")
    kind, bits = I32 if signed_sum else U32, int(match["bits"])
    op = VectorOp(results=(kind,), sources=(U32, U32, kind), evaluate=lambda *x: dot(x, bits, signs, clamps=clamps))
    sources = [source(instruction, x, of) for x, of in zip(fields.operands[1:], op.sources, strict=True)]
    return step_of(instruction, bound_to(instruction, op, [fields.operands[0]], sources))


def dot(values: Sequence[Anything], bits: int, signs: Sequence[int], *, clamps: bool) -> Anything:
    """Return a * b summed over the parts of a lane, plus c, in the type of c; modulo 2^32, or limited if `clamps`."""
    a, b, c = values
    left, right = (parts(words, bits, is_signed=bool(sign)) for words, sign in zip((a, b), signs, strict=False))
    total = (left * right).sum(axis=-1) + c.astype(np.int64)
    if clamps:
        total = np.clip(total, np.iinfo(c.dtype).min, np.iinfo(c.dtype).max)
    return total.astype(c.dtype)
