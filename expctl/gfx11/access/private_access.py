"""Loads and stores of the private (scratch) memory of each lane. An address is a byte offset into it."""

from __future__ import annotations

import numpy as np

from expctl.gfx11.access.address import check_registers
from expctl.gfx11.access.transfer import Transfer, read_registers, write_registers
from expctl.gfx11.machine.arrays import ALL_BITS, Anything, Flags, Indices
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.step import Run
from expctl.gfx11.machine.waits import Counter, Operation
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.operands.vector_source import Source
from expctl.gfx11.text.program import Instruction


def private_load(
    instruction: Instruction, first: int, transfer: Transfer, addresses: Source, also: Counter | None = None
) -> Run:
    """Return the function of a load from private memory, which the counter `also` has to prove too."""
    line, keys = instruction.line, tuple(range(first, first + transfer.registers))
    touched = frozenset((*keys, *addresses.keys))

    def run(wave: Wave) -> None:
        if not wave.dirty.isdisjoint(touched):
            check_registers(wave, line, addresses, keys, Counter.VM)
        rows, where, lanes = _private_reach(wave, line, addresses.read(wave), transfer.width)
        private = wave.group.private[wave.index]
        write_registers(wave, first, transfer, private.data[rows, where], private.undefined[rows, where], lanes)
        wave.begin(Operation(line=line, counter=Counter.VM, keys=keys, also=also))

    return run


def private_store(
    instruction: Instruction, first: int, transfer: Transfer, addresses: Source, also: Counter | None = None
) -> Run:
    """Return the function of a store to private memory, which the counter `also` has to prove too."""
    line, keys = instruction.line, range(first, first + transfer.registers)
    touched = frozenset((*keys, *addresses.keys))

    def run(wave: Wave) -> None:
        if not wave.dirty.isdisjoint(touched):
            check_registers(wave, line, addresses, keys)
        rows, where, lanes = _private_reach(wave, line, addresses.read(wave), transfer.width)
        private = wave.group.private[wave.index]
        private.data[rows, where] = read_registers(wave.vector, first, transfer, lanes)
        private.undefined[rows, where] = read_registers(wave.vector_undefined, first, transfer, lanes)
        wave.begin(Operation(line=line, counter=Counter.VS, also=also))

    return run


def _private_reach(wave: Wave, line: int, addresses: Anything, width: int) -> tuple[Indices, Indices, Flags]:
    """Compute which bytes of private memory the active lanes access; report an OUT_OF_BOUNDS fault for lanes beyond its end.
    Returns, for the other lanes, their numbers (lanes, 1), the byte offsets (lanes, width), and a flag per lane (32,).
    """
    size = wave.group.private[wave.index].size
    begin = (addresses & np.uint64(ALL_BITS)).astype(np.int64)
    inside = wave.lanes & (begin + width <= size)
    if (inside != wave.lanes).any():
        at = int(begin[wave.lanes & ~inside][0])
        what = f"{width} bytes at {at} of private memory, which has {size} per lane"
        wave.fault(FaultKind.OUT_OF_BOUNDS, line, what, lanes=wave.lanes & ~inside)
    wave.group.tally.of_line(line).bytes += int(inside.sum()) * width
    rows = np.flatnonzero(inside)[:, None]
    return rows, begin[inside][:, None] + np.arange(width), inside
