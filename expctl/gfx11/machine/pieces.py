"""Pieces of a memory: as many bytes at each of several places, read or written at once in the largest units that fit."""

from __future__ import annotations

from functools import cache

import numpy as np

from expctl.gfx11.machine.arrays import Bytes, Flags, Indices

_UNITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_ONES = {np.uint8: 0x01, np.uint16: 0x0101, np.uint32: 0x0101_0101, np.uint64: 0x0101_0101_0101_0101}


@cache
def counted(count: int) -> Indices:
    """Return 0, 1, ... `count` - 1; the array is shared and read-only."""
    numbers = np.arange(count)
    numbers.flags.writeable = False
    return numbers


class Pieces:
    """The `width` bytes at each of the offsets `where`, (n,), in a memory whose number of bytes `size` is a multiple of."""

    __slots__ = ("_index", "_kind", "_size", "low", "where", "width")

    def __init__(self, where: Indices, width: int, size: int = 8) -> None:
        self.where, self.width, self._size = where, width, size
        self.low = int(np.bitwise_or.reduce(where)) | width
        """Its lowest one is what all offsets and the width are multiples of."""
        least = self.low | size | 8
        unit = least & -least
        self._kind = _UNITS[unit]
        first = where >> unit.bit_length() - 1
        self._index: Indices = first[:, None] + counted(width // unit)

    def among(self, kept: Flags) -> Pieces:
        """Return the pieces whose flag is set."""
        return Pieces(self.where[kept], self.width, self._size)

    def bytes(self) -> Indices:
        """Return the offset of each byte, (n, width)."""
        return self.where[:, None] + counted(self.width)

    def read(self, memory: Bytes) -> Bytes:
        """Return the bytes, (n, width)."""
        return memory.view(self._kind).take(self._index).view(np.uint8)

    def write(self, memory: Bytes, data: Bytes) -> None:
        """Write `data`, (n, width) contiguous bytes, in order: of pieces that overlap the last one is what remains."""
        memory.view(self._kind)[self._index] = data.view(self._kind)

    def fill(self, memory: Bytes, value: int) -> None:
        """Set each byte to `value`."""
        memory.view(self._kind)[self._index] = value * _ONES[self._kind]
