"""Decode v_wmma_f32_16x16x16_f16 in wave32: D = A x B + C on all lanes, whatever EXEC is.

    A     lane l < 16 holds row l, two of the k = 0..15 in each of 8 registers       lanes 16..31 must repeat lanes 0..15
    B     lane l < 16 holds column l, two of the k = 0..15 in each of 8 registers    lanes 16..31 must repeat lanes 0..15
    C, D  register s of lane l is row 2 s + l / 16, column l % 16

Products of halves are exact; here their sum and C are added in double precision and rounded once to single. The order and the
width of the hardware's own additions are not documented, so the last bits may differ.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from expctl.gfx11.machine.arrays import ALL_BITS, Anything, Flags, Words
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.step import Run, guarded
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.text.operand import Kind, Operand
from expctl.gfx11.text.program import Instruction

NAME = "v_wmma_f32_16x16x16_f16"
_REGISTERS = 8


def decode_matrix(instruction: Instruction) -> Run:
    """Return the function that executes a v_wmma on a wave. Raises Unsupported for other operands or any modifier."""
    fields = instruction.fields()
    if fields.modifiers:
        raise instruction.unsupported(f"modifier {' '.join(fields.modifiers)} is not implemented")
    if len(fields.operands) != 4:
        raise instruction.unsupported(f"{len(fields.operands)} operands are too many or too few")
    destination, a, b, c = fields.operands
    d = _first(instruction, destination)
    a0, b0 = _first(instruction, a), _first(instruction, b)
    zero = c.kind is Kind.NUMBER and c.number in (0, 0.0)
    c0 = 0 if zero else _first(instruction, c)
    line = instruction.line
    inputs = [*range(a0, a0 + _REGISTERS), *range(b0, b0 + _REGISTERS)]
    sums = [] if zero else [*range(c0, c0 + _REGISTERS)]
    outputs = [*range(d, d + _REGISTERS)]
    keys = frozenset((*inputs, *sums, *outputs))

    def plain(wave: Wave) -> None:
        vector = wave.vector
        left, left_repeats = fragment(vector[a0 : a0 + _REGISTERS])
        right, right_repeats = fragment(vector[b0 : b0 + _REGISTERS])
        if not (left_repeats and right_repeats):
            wave.fault(FaultKind.LANES_DIFFER, line, "lanes 16..31 of a matrix input differ from lanes 0..15")
        total = left @ right.T
        if not zero:
            total += vector[c0 : c0 + _REGISTERS].view(np.float32).reshape(16, 16)
        vector[d : d + _REGISTERS].view(np.float32).reshape(16, 16)[:] = total

    def careful(wave: Wave) -> None:
        wave.check_waited(line, keys)
        undefined = wave.vector_undefined
        rows = undefined[a0 : a0 + _REGISTERS, :16].any(axis=0)
        columns = undefined[b0 : b0 + _REGISTERS, :16].any(axis=0)
        bad: Flags = np.logical_or.outer(rows, columns)
        if not zero:
            bad |= undefined[c0 : c0 + _REGISTERS].reshape(16, 16) != 0
        plain(wave)
        _mark(wave, outputs, bad.reshape(_REGISTERS, 32))

    return guarded(keys, plain, careful)


def fragment(registers: Words) -> tuple[Anything, bool]:
    """Convert the registers of matrix A or B, (8, 32) words, to a float64 array (16, 16) whose last axis is k. The values are
    those of lanes 0..15; also returned is whether lanes 16..31 repeat them, as the hardware requires.
    """
    return _fragment_of(registers.tobytes())


@lru_cache(maxsize=2048)  # one fragment is multiplied several times
def _fragment_of(raw: bytes) -> tuple[Anything, bool]:
    registers = np.frombuffer(raw, dtype=np.uint32).reshape(_REGISTERS, 32)
    halves = registers[:, :16].copy().view(np.float16).reshape(_REGISTERS, 16, 2)
    values = np.ascontiguousarray(halves.transpose(1, 0, 2)).reshape(16, 16).astype(np.float64)
    values.flags.writeable = False
    return values, bool((registers[:, :16] == registers[:, 16:]).all())


def _mark(wave: Wave, outputs: list[int], bad: Anything) -> None:
    """Set the undefined bits of the output registers in all lanes: all bits where `bad`, (8, 32), is True, none elsewhere."""
    for register, row in zip(outputs, bad, strict=True):
        wave.vector_undefined[register] = np.where(row, np.uint32(ALL_BITS), np.uint32(0))
        wave.refresh(register)


def _first(instruction: Instruction, operand: Operand) -> int:
    if operand.kind is not Kind.VECTOR or operand.count != _REGISTERS or operand.negated or operand.absolute:
        raise instruction.unsupported("a matrix operand is eight vector registers")
    return operand.index
