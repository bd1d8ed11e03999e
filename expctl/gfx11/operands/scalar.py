"""Scalar operands: 32 or 64 bits as unsigned Python integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from expctl.gfx11.machine.arrays import ALL_BITS
from expctl.gfx11.machine.memory import PROGRAM_COUNTER
from expctl.gfx11.machine.wave import SCALAR_KEY, Wave
from expctl.gfx11.operands.vector_source import Type, number_bits
from expctl.gfx11.text.operand import EXEC, EXEC_HI, Kind, Operand
from expctl.gfx11.text.program import Instruction


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarSource:
    """A readable scalar operand: its value, a mask of its undefined bits, and the keys of the registers read. A key is n for
    VGPR n, 1024 + n for scalar register n.
    """

    read: Callable[[Wave], int]
    undefined: Callable[[Wave], int]
    keys: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarTarget:
    """A scalar destination: `write` stores a value, `mark` its undefined bits. Writing EXEC changes the active lanes."""

    write: Callable[[Wave, int], None]
    mark: Callable[[Wave, int], None]
    keys: tuple[int, ...]


def scalar_source(instruction: Instruction, operand: Operand, *, wide: bool = False, kind: Type = Type.U32) -> ScalarSource:
    """Return a source that reads a scalar register (a pair of them if `wide`), or a number as type `kind`. Raises Unsupported
    for any other operand.
    """
    if operand.negated or operand.absolute:
        raise instruction.unsupported("sign modifier on a scalar operand")
    if operand.kind is Kind.NUMBER:
        bits = number_bits(instruction, operand.number, Type.U64 if wide else kind)
        return ScalarSource(read=lambda wave: bits, undefined=lambda wave: 0, keys=())
    if operand.kind is Kind.SYMBOL and not wide:
        name, shift, beyond = operand.name, 32 * operand.upper, int(operand.number)
        return ScalarSource(
            read=lambda wave: (wave.group.memory.address_of(name) + beyond - PROGRAM_COUNTER) >> shift & ALL_BITS,
            undefined=lambda wave: 0,
            keys=(),
        )
    n = operand.index
    if operand.kind is not Kind.SCALAR or (operand.count != 1 + wide and not operand.is_null):
        raise instruction.unsupported(f"an operand that is not a scalar operand of {64 if wide else 32} bits")
    if operand.is_null:
        return ScalarSource(read=lambda wave: 0, undefined=lambda wave: 0, keys=())
    if wide:
        return ScalarSource(
            read=lambda wave: wave.scalar[n] | wave.scalar[n + 1] << 32,
            undefined=lambda wave: wave.scalar_undefined[n] | wave.scalar_undefined[n + 1] << 32,
            keys=(SCALAR_KEY + n, SCALAR_KEY + n + 1),
        )
    return ScalarSource(
        read=lambda wave: wave.scalar[n], undefined=lambda wave: wave.scalar_undefined[n], keys=(SCALAR_KEY + n,)
    )


def scalar_target(instruction: Instruction, operand: Operand, *, wide: bool = False) -> ScalarTarget:
    """Return a destination that writes a scalar register, or a pair of them if `wide`. Raises Unsupported for any other
    operand.
    """
    n = operand.index
    if operand.kind is not Kind.SCALAR or operand.negated or operand.absolute:
        raise instruction.unsupported("an operand that is not a scalar destination")
    if operand.is_null:
        return ScalarTarget(write=lambda wave, value: None, mark=lambda wave, bits: None, keys=())
    if operand.count != 1 + wide:
        raise instruction.unsupported(f"an operand that is not a scalar destination of {64 if wide else 32} bits")
    if n == EXEC_HI:
        raise instruction.unsupported("exec_hi is written, which a wave of 32 lanes doesn't have")
    if n == EXEC:
        return ScalarTarget(
            write=lambda wave, value: wave.set_exec(value & ALL_BITS),
            mark=lambda wave, bits: wave.mark_scalar(EXEC, bits & ALL_BITS),
            keys=(SCALAR_KEY + EXEC,),
        )
    if wide:
        return _pair(n)

    def write(wave: Wave, value: int) -> None:
        wave.scalar[n] = value

    return ScalarTarget(write=write, mark=lambda wave, bits: wave.mark_scalar(n, bits), keys=(SCALAR_KEY + n,))


def _pair(n: int) -> ScalarTarget:
    def write(wave: Wave, value: int) -> None:
        wave.scalar[n] = value & ALL_BITS
        wave.scalar[n + 1] = value >> 32

    def mark(wave: Wave, bits: int) -> None:
        wave.mark_scalar(n, bits & ALL_BITS)
        wave.mark_scalar(n + 1, bits >> 32)

    return ScalarTarget(write=write, mark=mark, keys=(SCALAR_KEY + n, SCALAR_KEY + n + 1))
