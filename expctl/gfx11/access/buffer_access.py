"""Buffer accesses: a descriptor in four scalar registers says where a buffer begins and ends.

    buffer_load_b32   v0, v1, s[4:7], s8 offen offset:16        buffer_store_b32   v0, off, s[4:7], 0

The offset of a lane is its register's (with `offen`) plus that of the instruction; the address is the descriptor's base plus
that plus the scalar offset. Lanes beyond the end load zeros and store nothing, which is no fault: compilers count on it. Only
descriptors of raw buffers are known, without stride and swizzling. Source: RDNA3.5 ISA, 9.1 (memory buffer instructions).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from expctl.gfx11.access.atomic import GLOBAL, Exchange, global_update
from expctl.gfx11.access.global_access import CACHE_POLICY, global_load, global_store
from expctl.gfx11.access.lds_access import vector_index
from expctl.gfx11.access.transfer import LOADS, STORES, Transfer, write_registers
from expctl.gfx11.machine.arrays import LANES, Anything, Bytes, bits_of
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.step import Run
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.operands.scalar import scalar_source
from expctl.gfx11.operands.vector_source import Source, Type, source
from expctl.gfx11.text.operand import Kind, Operand
from expctl.gfx11.text.program import Instruction

_ATOMICS = {name.replace("global_", "buffer_", 1): op for name, op in GLOBAL.items()}
NAMES = frozenset((
    *(f"buffer_load_{suffix}" for suffix in LOADS), *(f"buffer_store_{suffix}" for suffix in STORES), *_ATOMICS,
))  # fmt: skip
_BASE_BITS, _STRIDE_BITS, _ADD_LANE = 0xFFFF_FFFF_FFFF, 0xFFFF, 1 << 23
"""Of the descriptor: the base address in its first two words, stride and swizzling above it, and a bit of the last word."""


def decode_buffer(instruction: Instruction) -> Run:
    """Return the function that executes a buffer access on a wave. Raises Unsupported for operands of another form."""
    _, do, suffix = instruction.mnemonic.split("_", 2)
    fields = instruction.fields()
    modifiers = dict(fields.modifiers)
    constant, by_lane = int(modifiers.pop("offset", "0"), 0), modifiers.pop("offen", None) is not None
    returns = do == "atomic" and "glc" in modifiers
    if unknown := modifiers.keys() - CACHE_POLICY:
        raise instruction.unsupported(f"modifier {' '.join(sorted(unknown))} is not implemented")
    if len(fields.operands) != 4:
        raise instruction.unsupported(f"{len(fields.operands)} operands, expected 4: data, offset, descriptor, scalar offset")
    data, lane_offset, descriptor, moved = fields.operands
    if descriptor.kind is not Kind.SCALAR or descriptor.count != 4 or (lane_offset.kind is Kind.VECTOR) != by_lane:
        raise instruction.unsupported("operands other than data, an offset for offen, four scalar registers, a scalar offset")
    parts = _Parts(instruction, lane_offset if by_lane else None, descriptor, moved, constant)
    if do == "atomic":
        op = _ATOMICS[instruction.mnemonic]
        words = op.width // 4
        first = vector_index(instruction, data, words * (1 + op.compares))
        exchange = Exchange(op=op, line=instruction.line, data=first, target=first if returns else None)
        loaded = Transfer(width=op.width, registers=words) if returns else None
        return parts.within(op.width, global_update(exchange, parts.addresses), first, loaded)
    transfer = (STORES if do == "store" else LOADS)[suffix]
    first = vector_index(instruction, data, transfer.registers)
    access = (global_store if do == "store" else global_load)(instruction, first, transfer, parts.addresses)
    return parts.within(transfer.width, access, first, None if do == "store" else transfer)


class _Parts:
    """Where a buffer access goes: the registers of its offsets and of its descriptor."""

    def __init__(
        self, instruction: Instruction, lane_offset: Operand | None, descriptor: Operand, moved: Operand, constant: int
    ) -> None:
        low, high = (replace(descriptor, index=descriptor.index + at, count=2) for at in (0, 2))
        self._instruction, self._constant = instruction, np.full(LANES, constant, dtype=np.uint64)
        self._lane = source(instruction, lane_offset, Type.U32) if lane_offset else None
        self._base, self._end = (scalar_source(instruction, pair, wide=True) for pair in (low, high))
        self._moved = scalar_source(instruction, moved)
        keys = (*self._base.keys, *self._end.keys, *self._moved.keys, *(self._lane.keys if self._lane else ()))
        self.addresses = Source(read=self._addresses, undefined=self._undefined, keys=keys)

    def within(self, width: int, access: Run, first: int, loaded: Transfer | None) -> Run:
        """Return the function of `access` to `width` bytes in the lanes within the buffer; in the others, it sets to zero what
        is `loaded` to the registers from `first` on.
        """
        line = self._instruction.line

        def run(wave: Wave) -> None:
            wave.check_waited(line, self.addresses.keys)
            if (self._undefined(wave)[wave.lanes] != 0).any():
                wave.fault(FaultKind.UNINITIALISED, line, "the address is a value that nothing wrote")
            active, begin, size = wave.exec, self._offsets(wave), self._size(wave)
            inside, beyond = begin + np.uint64(width) <= size, begin >= size
            if (across := ~inside & ~beyond & wave.lanes).any():
                what = f"{width} bytes that begin within the {size} of a buffer, end beyond"
                wave.fault(FaultKind.OUT_OF_BOUNDS, line, what, lanes=across)
            wave.set_exec(bits_of(inside) & active)
            access(wave)
            wave.set_exec(active)
            outside = wave.lanes & ~inside
            if loaded and outside.any():
                nothing: Bytes = np.zeros((int(outside.sum()), loaded.width), dtype=np.uint8)
                write_registers(wave, first, loaded, nothing, nothing, outside)

        return run

    def _offsets(self, wave: Wave) -> Anything:
        """Return each lane's distance from the buffer's begin, (32,) uint64."""
        total = self._constant + np.uint64(self._moved.read(wave))
        return total + self._lane.read(wave).astype(np.uint64) if self._lane else total

    def _size(self, wave: Wave) -> Anything:
        size, stride = self._end.read(wave), self._base.read(wave) >> 48
        if stride & _STRIDE_BITS or size >> 32 & _ADD_LANE:
            raise self._instruction.unsupported("a buffer with a stride, swizzled or offset by lane")
        return np.uint64(size & 0xFFFF_FFFF)

    def _addresses(self, wave: Wave) -> Anything:
        return self._offsets(wave) + np.uint64(self._base.read(wave) & _BASE_BITS)

    def _undefined(self, wave: Wave) -> Anything:
        scalars = self._base.undefined(wave) | self._end.undefined(wave) | self._moved.undefined(wave)
        bits: Anything = np.full(LANES, 0xFFFF_FFFF if scalars else 0, dtype=np.uint32)
        return bits | self._lane.undefined(wave) if self._lane else bits
