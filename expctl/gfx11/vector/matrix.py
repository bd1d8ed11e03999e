"""Decode v_wmma in wave32: D = A x B + C, all 16 x 16, on all lanes, whatever EXEC is.

    A     lane l < 16 holds row l, the k = 0..15 packed into its registers, lowest first       lanes 16..31 repeat lanes 0..15
    B     lane l < 16 holds column l, the k = 0..15 packed into its registers, lowest first    lanes 16..31 repeat lanes 0..15
    C, D  register s of lane l is row 2 s + l / 16, column l % 16; sums of 16 bits are in the half that op_sel[2] names

Products of halves and of bfloat16 are exact; here their sum and C are added in double precision and rounded once to single. The
order and the width of the hardware's own additions are not documented, so the last bits may differ. Sums of integers are exact,
modulo 2^32 or limited with `clamp`; neg_lo says which of A and B is signed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from expctl.gfx11.machine.arrays import ALL_BITS, LANES, Anything, Flags, Words
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.step import AtOnce, Run
from expctl.gfx11.machine.team import Team
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.text.operand import Kind, Operand
from expctl.gfx11.text.program import Instruction
from expctl.gfx11.vector.dot import parts
from expctl.gfx11.vector.packed import bits_of_modifier

_SUMS = 8  # registers


class Sixteen(NamedTuple):
    """The values of 16 bits in uint16, and what is rounded to them."""

    values: Callable[[Anything], Anything]
    rounded: Callable[[Anything], Anything]


def _rounded_bfloats(numbers: Anything) -> Anything:
    """Return doubles as the bits of bfloat16, rounded to nearest even by way of a single that is rounded to odd."""
    single = numbers.astype(np.float32)
    below = np.where(np.abs(single.astype(np.float64)) > np.abs(numbers), np.nextafter(single, np.float32(0)), single)
    words = below.view(np.uint32) | (below.astype(np.float64) != numbers)
    kept = words + np.uint32(0x7FFF) + (words >> np.uint32(16) & np.uint32(1)) >> np.uint32(16)
    return np.where(np.isnan(numbers), 0x7FC0, np.where(np.isinf(single), single.view(np.uint32) >> 16, kept)).astype(np.uint16)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixOp:
    """A matrix instruction: how many registers A and B have, and how `values` reads them: ((n, registers) words, signed) to
    n rows of 16 numbers, k = 0..15. The sum has the type `total`.
    """

    registers: int
    values: Callable[[Words, bool], Anything]
    total: type[np.generic]
    narrow: Sixteen | None = None
    """How sums of 16 bits, each in a half of its register, become numbers, and numbers such sums."""

    @property
    def is_integer(self) -> bool:
        """Return whether it multiplies integers."""
        return self.total is np.int32


def _halves(words: Words, is_signed: bool) -> Anything:  # noqa: ARG001  halves have their sign
    return words.view(np.float16).astype(np.float64)


def _bfloats(words: Words, is_signed: bool) -> Anything:  # noqa: ARG001  as above
    return (words.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


def _integers(bits: int) -> Callable[[Words, bool], Anything]:
    return lambda words, is_signed: parts(words, bits, is_signed=is_signed)


OPS: dict[str, MatrixOp] = {
    "v_wmma_f32_16x16x16_f16": MatrixOp(registers=8, values=_halves, total=np.float32),
    "v_wmma_f32_16x16x16_bf16": MatrixOp(registers=8, values=_bfloats, total=np.float32),
    "v_wmma_f16_16x16x16_f16": MatrixOp(
        registers=8,
        values=_halves,
        total=np.float64,
        narrow=Sixteen(lambda bits: bits.view(np.float16), lambda numbers: numbers.astype(np.float16).view(np.uint16)),
    ),
    "v_wmma_bf16_16x16x16_bf16": MatrixOp(
        registers=8,
        values=_bfloats,
        total=np.float64,
        narrow=Sixteen(lambda bits: (bits.astype(np.uint32) << np.uint32(16)).view(np.float32), _rounded_bfloats),
    ),
    "v_wmma_i32_16x16x16_iu8": MatrixOp(registers=4, values=_integers(8), total=np.int32),
    "v_wmma_i32_16x16x16_iu4": MatrixOp(registers=2, values=_integers(4), total=np.int32),
}


def decode_matrix(instruction: Instruction) -> Run:
    """Return the function that executes a v_wmma on a wave. Raises Unsupported for other operands, opcodes or modifiers."""
    name, op, fields = instruction.mnemonic, OPS.get(instruction.mnemonic), instruction.fields()
    if op is None or len(fields.operands) != 4:
        raise instruction.unsupported("unknown opcode, or too many or too few operands")
    if fields.modifiers.keys() - ({"neg_lo", "clamp"} if op.is_integer else {"op_sel"} if op.narrow else set()):
        raise instruction.unsupported(f"modifier {' '.join(fields.modifiers)} is not implemented")
    signs = bits_of_modifier(instruction, fields.modifiers.get("neg_lo"), 3, 0)
    clamps = "clamp" in fields.modifiers
    upper = bits_of_modifier(instruction, fields.modifiers.get("op_sel"), 3, 0)[2]
    used = np.uint32(ALL_BITS if op.narrow is None else 0xFFFF << 16 * upper)
    destination, a, b, c = fields.operands
    d = _first(instruction, destination, _SUMS)
    a0, b0 = _first(instruction, a, op.registers), _first(instruction, b, op.registers)
    zero = c.kind is Kind.NUMBER and c.number in (0, 0.0)
    c0 = 0 if zero else _first(instruction, c, _SUMS)
    line = instruction.line
    inputs = [*range(a0, a0 + op.registers), *range(b0, b0 + op.registers)]
    sums = [] if zero else [*range(c0, c0 + _SUMS)]
    outputs = [*range(d, d + _SUMS)]
    keys = frozenset((*inputs, *sums, *outputs))

    def multiply(rows: Anything) -> Flags:
        """Execute it on the registers `rows`, (registers, waves, 32); return for which waves the inputs repeat."""
        left, left_repeats = _fragments(name, rows[a0 : a0 + op.registers], bool(signs[0]))
        right, right_repeats = _fragments(name, rows[b0 : b0 + op.registers], bool(signs[1]))
        repeats = left_repeats & right_repeats
        total = left @ right.transpose(0, 2, 1)
        if op.narrow is not None:
            if not zero:
                total += op.narrow.values(_matrices(rows[c0 : c0 + _SUMS].view(np.uint16)[..., upper::2]))
            rounded = op.narrow.rounded(total).reshape(-1, _SUMS, 32)
            rows[d : d + _SUMS].view(np.uint16)[..., upper::2] = rounded.transpose(1, 0, 2)
            return repeats
        if not zero:
            total += _matrices(rows[c0 : c0 + _SUMS].view(op.total))
        if clamps:
            total = np.clip(total, -(1 << 31), (1 << 31) - 1)
        rows[d : d + _SUMS].view(op.total)[:] = total.astype(op.total).reshape(-1, _SUMS, 32).transpose(1, 0, 2)
        return repeats

    def check(wave: Wave, repeats: bool) -> None:
        if not repeats:
            wave.fault(FaultKind.LANES_DIFFER, line, "lanes 16..31 of a matrix input differ from lanes 0..15")

    def plain(wave: Wave) -> None:
        check(wave, bool(multiply(wave.vector[:, None])[0]))

    def careful(wave: Wave) -> None:
        wave.check_waited(line, keys)
        undefined = wave.vector_undefined
        rows = undefined[a0 : a0 + op.registers, :16].any(axis=0)
        columns = undefined[b0 : b0 + op.registers, :16].any(axis=0)
        bad: Flags = np.logical_or.outer(rows, columns)
        if not zero:
            bad |= (undefined[c0 : c0 + _SUMS] & used).reshape(16, 16) != 0
        plain(wave)
        _mark(wave, outputs, bad.reshape(_SUMS, 32), used)

    def run(wave: Wave) -> None:
        (plain if wave.dirty.isdisjoint(keys) else careful)(wave)

    def at_once(team: Team) -> bool:
        if not team.dirty.isdisjoint(keys):
            return False
        repeats = multiply(team.vector.reshape(len(team.vector), -1, LANES))
        for wave in team.order if not repeats.all() else ():
            check(wave, bool(repeats[wave.index]))
        return True

    return AtOnce(run, at_once)


def _matrices(rows: Anything) -> Anything:
    """Return sums in registers, (8, waves, 32), as (waves, 16, 16)."""
    return rows.transpose(1, 0, 2).reshape(-1, 16, 16)


def _fragments(name: str, rows: Words, is_signed: bool) -> tuple[Anything, Flags]:
    """Convert the registers of matrix A or B of instruction `name`, (registers, waves, 32) words, to an array (waves, 16, 16)
    whose last axis is k. The values are those of lanes 0..15; also returned is, for each wave, whether lanes 16..31 repeat
    them, as the hardware requires.
    """
    return _fragments_of(name, rows.tobytes(), len(rows), is_signed)


@lru_cache(maxsize=512)  # one fragment is multiplied several times
def _fragments_of(name: str, raw: bytes, registers: int, is_signed: bool) -> tuple[Anything, Flags]:
    rows = np.frombuffer(raw, dtype=np.uint32).reshape(registers, -1, 2, 16)
    words = np.ascontiguousarray(rows[:, :, 0].transpose(1, 2, 0)).reshape(-1, registers)
    values = OPS[name].values(words, is_signed).reshape(-1, 16, 16)
    values.flags.writeable = False
    return values, (rows[:, :, 0] == rows[:, :, 1]).all(axis=(0, 2))


def _mark(wave: Wave, outputs: list[int], bad: Anything, used: np.uint32) -> None:
    """Set the undefined bits of the output registers in all lanes: the bits `used` where `bad`, (8, 32), is True, else none of
    them; others stay.
    """
    for register, row in zip(outputs, bad, strict=True):
        kept = wave.vector_undefined[register] & ~used
        wave.vector_undefined[register] = kept | np.where(row, used, np.uint32(0))
        wave.refresh(register)


def _first(instruction: Instruction, operand: Operand, count: int) -> int:
    if operand.kind is not Kind.VECTOR or operand.count != count or operand.negated or operand.absolute:
        raise instruction.unsupported(f"an operand that isn't {count} vector registers")
    return operand.index
