"""Write vector results to the active lanes of a register or of a part of one, and record which of their bits are undefined."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from expctl.gfx11.machine.arrays import Anything, Bits, bits_of
from expctl.gfx11.machine.wave import SCALAR_KEY, Wave
from expctl.gfx11.operands.vector_source import UPPER, WIDE, Type, used_bits
from expctl.gfx11.text.operand import EXEC, NULL, Kind, Operand
from expctl.gfx11.text.program import Instruction

Write = Callable[[Wave, Anything], None]
_VIEWS: dict[Type, Callable[[Wave, int], Anything]] = {
    Type.U32: lambda wave, n: wave.u32[n],
    Type.I32: lambda wave, n: wave.i32[n],
    Type.F32: lambda wave, n: wave.f32[n],
    Type.F16: lambda wave, n: wave.low[n],
    Type.F16_HIGH: lambda wave, n: wave.high[n],
    Type.U16: lambda wave, n: wave.low[n].view(np.uint16),
    Type.I16: lambda wave, n: wave.low[n].view(np.int16),
    Type.U16_HIGH: lambda wave, n: wave.high[n].view(np.uint16),
    Type.I16_HIGH: lambda wave, n: wave.high[n].view(np.int16),
}
"""Type -> a view of a vector register, or of the half of it that has that type."""


def writer(instruction: Instruction, destination: Operand, kind: Type) -> Write:
    """Return a function that writes results of type `kind`, (32,), to the active lanes of `destination`. Raises Unsupported if
    `destination` can't hold that type.
    """
    if kind is Type.MASK:
        if destination.kind is not Kind.SCALAR or destination.count != 1:
            raise instruction.unsupported("a lane mask goes to one scalar register")
        return _mask_writer(destination.index)
    wanted, expected = 2 if kind in WIDE else 1, Kind.VECTOR
    if kind in UPPER and destination.kind is Kind.HALF:
        kind, expected = part_of(destination, kind), Kind.HALF
    if destination.kind is not expected or destination.count != wanted or destination.negated or destination.absolute:
        raise instruction.unsupported(f"a result of type {kind} goes to {wanted} vector register(s)")
    n = destination.index
    if kind in WIDE:
        return _pair_writer(n)
    if kind is Type.U32:
        return _word_writer(n)
    view = _VIEWS[kind]

    def write(wave: Wave, result: Anything) -> None:
        if wave.full:
            view(wave, n)[:] = result
        else:
            np.copyto(view(wave, n), result, where=wave.lanes)

    return write


def part_of(destination: Operand, kind: Type) -> Type:
    """Return `kind`, or its HIGH type if it is a 16-bit type and `destination` is the upper half of a register."""
    return UPPER[kind] if destination.kind is Kind.HALF and destination.upper and kind in UPPER else kind


def _word_writer(n: int) -> Write:
    def write(wave: Wave, result: Anything) -> None:
        if wave.full:
            wave.u32[n][:] = result
        else:
            np.copyto(wave.u32[n], result, where=wave.lanes)

    return write


def _pair_writer(n: int) -> Write:
    def write(wave: Wave, result: Anything) -> None:
        words = result.view(np.uint32)
        np.copyto(wave.u32[n], words[0::2], where=wave.lanes)
        np.copyto(wave.u32[n + 1], words[1::2], where=wave.lanes)

    return write


def _mask_writer(n: int) -> Write:
    if n == NULL:
        return lambda wave, result: None
    if n == EXEC:
        return lambda wave, result: wave.narrow_exec(result)
    return lambda wave, result: wave.put_mask(n, result)


def write_keys(destination: Operand, kind: Type) -> tuple[int, ...]:
    """Return the keys of the registers that a result of type `kind` changes: n for VGPR n, 1024 + n for scalar register n."""
    if destination.is_null:
        return ()
    if destination.kind is Kind.SCALAR:
        return (SCALAR_KEY + destination.index,)
    return tuple(range(destination.index, destination.index + (2 if kind in WIDE else 1)))


def undefined_mask(destination: Operand, kind: Type) -> Callable[[Wave, Bits], None]:
    """Return a function that records the undefined bits of a result, (32,) masks. It must be called before the result is
    written.
    """
    n, kind = destination.index, part_of(destination, kind)
    if destination.is_null:
        return lambda wave, undefined: None
    if kind is Type.MASK:
        return lambda wave, undefined: wave.mark_scalar(n, bits_of(undefined != 0) & wave.exec)
    if kind in WIDE:

        def mark_pair(wave: Wave, undefined: Bits) -> None:
            wave.mark_vector(n, undefined.astype(np.uint32))
            wave.mark_vector(n + 1, (undefined.astype(np.uint64) >> np.uint64(32)).astype(np.uint32))

        return mark_pair
    bits = used_bits(kind)
    return lambda wave, undefined: wave.mark_vector(n, undefined.astype(np.uint32), bits)
