"""Decode s_load, which loads scalar registers from global memory.

Scalar loads end in any order: only lgkmcnt(0) proves an end.
"""

from __future__ import annotations

import re

import numpy as np

from expctl.gfx11.machine.arrays import ALL_BITS
from expctl.gfx11.machine.conflicts import report_conflicts
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.memory import BASE, OUTSIDE, UNDEFINED
from expctl.gfx11.machine.pieces import Pieces
from expctl.gfx11.machine.step import Run
from expctl.gfx11.machine.waits import Counter, Operation
from expctl.gfx11.machine.wave import SCALAR_KEY, Wave
from expctl.gfx11.operands.scalar import scalar_source
from expctl.gfx11.text.operand import Kind
from expctl.gfx11.text.program import Instruction

_NAME = re.compile(r"^s_load_b(32|64|128|256|512)$")
NAMES = frozenset(f"s_load_b{bits}" for bits in (32, 64, 128, 256, 512))


def decode_scalar_load(instruction: Instruction) -> Run:
    """Decode `s_load_b64 s[0:1], s[2:3], offset` or `..., soffset offset:n`; offsets are bytes. Raises Unsupported."""
    match, fields = _NAME.match(instruction.mnemonic), instruction.fields()
    modifiers = dict(fields.modifiers)
    constant = int(modifiers.pop("offset", "0"), 0)
    if match is None or len(fields.operands) != 3 or modifiers.keys() - {"glc", "dlc"}:
        raise instruction.unsupported("unknown opcode, operands or modifiers")
    destination, base, offset = fields.operands
    count = int(match[1]) // 32
    if destination.kind is not Kind.SCALAR or destination.count != count or base.kind is not Kind.SCALAR:
        raise instruction.unsupported(f"operands other than {count} scalar registers and a scalar base")
    pair = scalar_source(instruction, base, wide=True)
    moved = scalar_source(instruction, offset)
    signed_offset = offset.number if offset.kind is Kind.NUMBER else None
    first, line = destination.index, instruction.line
    keys = tuple(SCALAR_KEY + n for n in range(first, first + count))

    def run(wave: Wave) -> None:
        wave.check_waited(line, (*pair.keys, *moved.keys, *keys))
        if pair.undefined(wave) or moved.undefined(wave):
            wave.fault(FaultKind.UNINITIALISED, line, "the address is a value that nothing wrote")
        distance = int(signed_offset) if signed_offset is not None else moved.read(wave)
        address = (pair.read(wave) + distance + constant) & ~3
        memory, at = wave.group.memory, address - BASE
        if not 0 <= at <= len(memory.data) - 64 or (memory.states[at : at + 4 * count] == OUTSIDE).any():
            wave.fault(FaultKind.OUT_OF_BOUNDS, line, f"reads {4 * count} bytes at {memory.describe(address)}")
            at = 0
        words = memory.data[at : at + 4 * count].view(np.uint32).tolist()
        undefined = (memory.states[at : at + 4 * count] == UNDEFINED).reshape(count, 4).any(axis=1).tolist()
        for n, word, unclear in zip(range(first, first + count), words, undefined, strict=True):
            wave.scalar[n] = word
            wave.mark_scalar(n, ALL_BITS if unclear else 0)
        log, pieces = wave.group.device.log, Pieces(np.array([at]), 4 * count)
        tag = log.begin(wave.group.access(line, wave.index))
        report_conflicts(wave, line, log.read(tag, pieces), pieces, "reads")
        wave.begin(Operation(line=line, counter=Counter.LGKM, keys=keys, in_order=False, log=log, tags=[tag]))

    return run
