"""Typed sources of vector instructions: each reads a register or number as a lane array, with its undefined bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from expctl.gfx11.machine.arrays import ALL_BITS, LANES, MOST_LANES, Anything, Bits, Words, lanes_of
from expctl.gfx11.machine.wave import SCALAR_KEY, Wave
from expctl.gfx11.text.operand import PRIVATE, SHARED, Kind, Operand
from expctl.gfx11.text.program import Instruction


class Type(StrEnum):
    """How an operand's 32 or 64 bits are interpreted. The types with HIGH read the upper half of a register."""

    U32 = "u32"
    I32 = "i32"
    F32 = "f32"
    F16 = "f16"
    F16_HIGH = "f16 high"
    U16 = "u16"
    I16 = "i16"
    U16_HIGH = "u16 high"
    I16_HIGH = "i16 high"
    U64 = "u64"
    I64 = "i64"
    F64 = "f64"
    MASK = "mask"
    """A lane mask: one bit per lane, in a scalar register."""


_DTYPES = {
    Type.U32: np.uint32, Type.I32: np.int32, Type.F32: np.float32, Type.U64: np.uint64, Type.I64: np.int64,
    Type.F64: np.float64, Type.F16: np.float16, Type.F16_HIGH: np.float16, Type.U16: np.uint16, Type.I16: np.int16,
    Type.U16_HIGH: np.uint16, Type.I16_HIGH: np.int16,
}  # fmt: skip
_HIGH = (Type.F16_HIGH, Type.U16_HIGH, Type.I16_HIGH)
_HALF = (Type.F16, Type.U16, Type.I16)
WIDE = (Type.U64, Type.I64, Type.F64)
UPPER = {Type.F16: Type.F16_HIGH, Type.U16: Type.U16_HIGH, Type.I16: Type.I16_HIGH}
"""Type of the lower half of a register -> the same type in the upper half."""
FLOATS = (Type.F32, Type.F16, Type.F16_HIGH, Type.F64)
_INLINE = range(-16, 65)
"""Integers that an instruction holds in an operand's own bits; all others are literals of 32 bits."""
_ALL_64_BITS = (1 << 64) - 1
_NEGATIVE_IN_64_BITS = (1 << 64) - (1 << 31)
"""From here on a number is a negative literal with its sign written in 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A readable vector operand.

    `read` returns the values of all lanes, (32,), perhaps as a view of the register; of a Team those of all its waves.
    `undefined` returns masks of their undefined bits, (32,) uint32, or uint64 for a 64-bit type. `keys` are the registers read:
    n for VGPR n, 1024 + n for scalar register n.
    """

    read: Callable[[Any], Anything]
    undefined: Callable[[Wave], Bits]
    keys: tuple[int, ...]


def source(instruction: Instruction, operand: Operand, kind: Type) -> Source:
    """Return a source that reads `operand` as `kind`. Raises Unsupported if the operand can't be read as that type."""
    if (operand.negated or operand.absolute) and kind not in FLOATS:
        raise instruction.unsupported(f"sign modifier on an operand that is read as {kind}")
    wanted = 2 if kind in WIDE else 1
    if operand.kind is Kind.OFF:
        raise instruction.unsupported("'off' where a value is needed")
    if operand.kind is not Kind.NUMBER and operand.count != wanted and not operand.is_null:
        raise instruction.unsupported(f"{operand.count} registers where {wanted} are read as {kind}")
    if kind is Type.MASK:
        return _mask(instruction, operand)
    if operand.kind is Kind.NUMBER:
        return _signed(_number(instruction, operand, kind), operand)
    if operand.kind is Kind.HALF:
        if kind not in UPPER:
            raise instruction.unsupported(f"half a register where {kind} is read")
        return _signed(_vector(operand, UPPER[kind] if operand.upper else kind), operand)
    plain = _vector(operand, kind) if operand.kind is Kind.VECTOR else _scalar(operand, kind)
    return _signed(plain, operand)


def number_bits(instruction: Instruction, number: int | float, kind: Type) -> int:
    """Return the bits of a number in the assembly, for an operand of type `kind`.

    An integer is a bit pattern whatever the type is: 2 read as a float is a denormal. A literal has 32 bits: the upper half of
    a double; extended by its sign to a signed 64-bit type, by zeros to an unsigned one, even where clang writes all 64 bits of
    a negative number. A packed integer instruction has floating-point constants in single precision, over both
    halves. Raises Unsupported for more than 32 bits, or for a floating-point number read as a mask.
    """
    if number in (SHARED, PRIVATE) and kind in WIDE:
        return int(number)
    if isinstance(number, int):
        if number >= _NEGATIVE_IN_64_BITS and kind in WIDE:
            number -= 1 << 64
        if not -(1 << 31) <= number <= ALL_BITS:
            raise instruction.unsupported(f"the number {number} has more than 32 bits")
        if number not in _INLINE and kind is Type.F64:
            return (number & ALL_BITS) << 32
        if number not in _INLINE and kind is Type.I64:
            return (((number & ALL_BITS) ^ 1 << 31) - (1 << 31)) & _ALL_64_BITS
        return number & (_ALL_64_BITS if number in _INLINE and kind in WIDE else ALL_BITS)
    if kind in (Type.F16, Type.F16_HIGH):
        return int(np.float16(number).view(np.uint16))
    if kind in WIDE:
        return int(np.float64(number).view(np.uint64))
    if kind is Type.MASK:
        raise instruction.unsupported(f"a floating-point number read as {kind}")
    return int(np.float32(number).view(np.uint32))


def _number(instruction: Instruction, operand: Operand, kind: Type) -> Source:
    bits = number_bits(instruction, operand.number, kind)
    if kind in WIDE:
        values: Anything = np.full(MOST_LANES, bits, dtype=np.uint64).view(_DTYPES[kind])
    else:
        values = _part(np.full(MOST_LANES, bits, dtype=np.uint32), kind)
    values = values.copy()
    values.flags.writeable = False
    nothing: Bits = np.zeros(LANES, dtype=np.uint32)
    return Source(read=lambda wave: values[: wave.size], undefined=lambda wave: nothing, keys=())


def _part(words: Words, kind: Type) -> Anything:
    """Return a view of the lane array `words` as type `kind`; for a 16-bit type, of the lower or upper half of every word."""
    if kind in _HALF:
        return words.view(_DTYPES[kind])[0::2]
    if kind in _HIGH:
        return words.view(_DTYPES[kind])[1::2]
    return words.view(_DTYPES[kind])


def used_bits(kind: Type) -> int:
    """Return a mask of the bits of a 32-bit register that a value of type `kind` occupies."""
    if kind in _HALF:
        return 0xFFFF
    return 0xFFFF0000 if kind in _HIGH else ALL_BITS


def _vector(operand: Operand, kind: Type) -> Source:
    n, bits = operand.index, np.uint32(used_bits(kind))
    if kind in WIDE:
        dtype = _DTYPES[kind]

        def read_pair(wave: Wave) -> Anything:
            return (wave.u32[n] | (wave.u32[n + 1].astype(np.uint64) << np.uint64(32))).view(dtype)

        def undefined_pair(wave: Wave) -> Bits:
            low, high = wave.vector_undefined[n], wave.vector_undefined[n + 1]
            return np.asarray(low | (high.astype(np.uint64) << np.uint64(32)))

        return Source(read=read_pair, undefined=undefined_pair, keys=(n, n + 1))
    return Source(read=_vector_reader(n, kind), undefined=lambda wave: np.asarray(wave.vector_undefined[n] & bits), keys=(n,))


def _vector_reader(n: int, kind: Type) -> Callable[[Wave], Anything]:
    if kind is Type.U32:
        return lambda wave: wave.u32[n]
    if kind is Type.I32:
        return lambda wave: wave.i32[n]
    if kind is Type.F32:
        return lambda wave: wave.f32[n]
    if kind is Type.F16:
        return lambda wave: wave.low[n]
    if kind is Type.F16_HIGH:
        return lambda wave: wave.high[n]
    return lambda wave: _part(wave.u32[n], kind)


def _scalar(operand: Operand, kind: Type) -> Source:
    """Return a source that reads a scalar register into every lane. All reads of one source reuse the same array."""
    n = operand.index
    if kind in WIDE:
        wide = np.zeros(MOST_LANES, dtype=np.uint64)
        wide_view = wide.view(_DTYPES[kind])
        if operand.is_null:
            return Source(read=lambda wave: wide_view[: wave.size], undefined=lambda wave: np.zeros(LANES, np.uint64), keys=())

        def read_wide(wave: Wave) -> Anything:
            wave.spread_pair(n, wide)
            return wide_view[: wave.size]

        def undefined_wide(wave: Wave) -> Bits:
            return np.full(LANES, wave.scalar_undefined[n] | wave.scalar_undefined[n + 1] << 32, dtype=np.uint64)

        return Source(read=read_wide, undefined=undefined_wide, keys=(SCALAR_KEY + n, SCALAR_KEY + n + 1))
    words = np.zeros(MOST_LANES, dtype=np.uint32)
    view, bits = _part(words, kind), used_bits(kind)

    def read(wave: Wave) -> Anything:
        wave.spread(n, words)
        return view[: wave.size]

    def undefined(wave: Wave) -> Bits:
        return np.full(LANES, wave.scalar_undefined[n] & bits, dtype=np.uint32)

    return Source(read=read, undefined=undefined, keys=(SCALAR_KEY + n,))


def _mask(instruction: Instruction, operand: Operand) -> Source:
    if operand.kind is not Kind.SCALAR:
        raise instruction.unsupported("a lane mask that is not in a scalar register")
    n = operand.index

    def undefined(wave: Wave) -> Bits:
        return np.asarray(lanes_of(wave.scalar_undefined[n]).astype(np.uint32) * np.uint32(ALL_BITS))

    return Source(read=lambda wave: wave.mask(n), undefined=undefined, keys=(SCALAR_KEY + n,))


def _signed(plain: Source, operand: Operand) -> Source:
    inner = plain.read
    if operand.absolute and operand.negated:
        return Source(read=lambda wave: np.negative(np.abs(inner(wave))), undefined=plain.undefined, keys=plain.keys)
    if operand.absolute:
        return Source(read=lambda wave: np.abs(inner(wave)), undefined=plain.undefined, keys=plain.keys)
    if operand.negated:
        return Source(read=lambda wave: np.negative(inner(wave)), undefined=plain.undefined, keys=plain.keys)
    return plain
