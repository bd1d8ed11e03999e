"""Addresses of loads and stores: what they are computed from, and whether that may be used."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from expctl.gfx11.machine.arrays import Anything
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.waits import Counter
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.operands.vector_source import Source, Type, source
from expctl.gfx11.text.operand import Kind, Operand
from expctl.gfx11.text.program import Instruction


def address_source(instruction: Instruction, address: Operand, base: Operand, offset: int, *, private: bool) -> Source:
    """Return a source of each lane's uint64 address, (32,); for private memory, of each lane's byte offset in it."""
    parts: list[Source] = []
    if address.kind is not Kind.OFF:
        wide = not private and base.kind is Kind.OFF
        parts.append(source(instruction, address, Type.U64 if wide else Type.U32))
    if base.kind is not Kind.OFF:
        if base.kind is not Kind.SCALAR:
            raise instruction.unsupported("the base address is not in scalar registers")
        parts.append(source(instruction, base, Type.U32 if private else Type.U64))
    if not parts and not private:
        raise instruction.unsupported("an address is needed")
    constant = np.int64(offset).astype(np.uint64)

    def read(wave: Wave) -> Anything:
        if not parts:
            return np.full(wave.size, constant)
        total = parts[0].read(wave).astype(np.uint64)
        total += constant
        for part in parts[1:]:
            total += part.read(wave)
        return total

    def undefined(wave: Wave) -> Anything:
        bits = np.zeros(32, dtype=np.uint32)
        for part in parts:
            bits |= part.undefined(wave)
        return bits

    return Source(read=read, undefined=undefined, keys=tuple(key for part in parts for key in part.keys))


def check_registers(wave: Wave, line: int, addresses: Source, data: Iterable[int], loads: Counter | None = None) -> None:
    """Report faults if the registers of the address or of the `data` are awaited, or the address is undefined. `loads` is the
    counter of a load that is about to write the data.
    """
    wave.check_waited(line, addresses.keys)
    wave.check_waited(line, data, loads=loads)
    if (unclear := wave.lanes & (addresses.undefined(wave) != 0)).any():
        wave.fault(FaultKind.UNINITIALISED, line, "the address is a value that nothing wrote", lanes=unclear)
