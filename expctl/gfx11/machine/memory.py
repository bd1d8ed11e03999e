"""Global memory: named buffers in one address space, so far apart that an access outside a buffer is noticed.

An address is BASE plus an offset in one array, the arena. Pages of it that are never touched take no memory, so the gaps
between buffers can be wide: an access has to miss its buffer by GAP bytes to hit another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from expctl.gfx11.machine.arrays import Anything, Bytes, Indices

BASE = 0x7F00_0000_0000
"""Address of the arena: far from 0, so that a lost upper half of an address is out of bounds."""
CODE = 0x5000_0000_0000
"""Address of the first instruction; each has 4 bytes here, which nothing can read."""
PROGRAM_COUNTER = 0x6000_0000_0000
"""What s_getpc returns, wherever it stands: symbols are found by their distance from it, and code is nowhere in memory."""
GAP = 1 << 22
OUTSIDE, DEFINED, UNDEFINED = 0, 1, 2
"""State of a byte of the arena: outside every buffer, or inside one and defined or not."""
POISON = 0xFF  # value of an undefined byte: a half, a float or a double of such bytes is a NaN


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A named buffer of global memory: `size` bytes at `offset` of the arena, the array that holds all buffers."""

    name: str
    offset: int
    size: int

    @property
    def address(self) -> int:
        """Return the address of the buffer's first byte, which a kernel gets as a pointer."""
        return BASE + self.offset


class Memory:
    """Global memory: one array, the arena, that holds all buffers. `states[i]` is OUTSIDE, DEFINED or UNDEFINED for byte i."""

    def __init__(self, sizes: dict[str, int]) -> None:
        offset = GAP
        buffers = []
        for name, size in sizes.items():
            buffers.append(Buffer(name=name, offset=offset, size=size))
            offset += (size + GAP + 0xFFF) & ~0xFFF
        self.buffers = tuple(buffers)
        self.functions: Mapping[str, int] = {}
        """Function -> its address."""
        self.data: Bytes = np.zeros(offset + GAP, dtype=np.uint8)
        self.states: Bytes = np.zeros(offset + GAP, dtype=np.uint8)
        for buffer in buffers:
            self.data[buffer.offset : buffer.offset + buffer.size] = POISON
            self.states[buffer.offset : buffer.offset + buffer.size] = UNDEFINED

    def regions(self) -> list[tuple[int, int]]:
        """Return where in the arena each buffer begins and ends."""
        return [(buffer.offset, buffer.offset + buffer.size) for buffer in self.buffers]

    def address_of(self, name: str) -> int:
        """Return the address of a function or buffer called `name`."""
        return self.functions[name] if name in self.functions else self.buffer(name).address

    def buffer(self, name: str) -> Buffer:
        """Return the buffer called `name`."""
        return next(buffer for buffer in self.buffers if buffer.name == name)

    def fill(self, name: str, values: Anything) -> None:
        """Write the bytes of `values` to the start of a buffer and mark them defined. It is called before the launch."""
        buffer = self.buffer(name)
        raw = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        self.data[buffer.offset : buffer.offset + len(raw)] = raw
        self.states[buffer.offset : buffer.offset + len(raw)] = DEFINED

    def undefine(self, offset: int, size: int) -> None:
        """Mark `size` bytes from `offset` of the arena undefined and set them to 0xff."""
        self.data[offset : offset + size] = POISON
        self.states[offset : offset + size] = UNDEFINED

    def contents(self, name: str) -> Bytes:
        """Return a copy of a buffer's bytes, (size,) uint8."""
        buffer = self.buffer(name)
        return self.data[buffer.offset : buffer.offset + buffer.size].copy()

    def written(self, name: str) -> Bytes:
        """Return (size,) uint8: 1 for each byte of a buffer that holds a defined value, else 0."""
        buffer = self.buffer(name)
        states = self.states[buffer.offset : buffer.offset + buffer.size]
        return np.asarray(states == DEFINED, dtype=np.uint8)

    def offsets(self, addresses: Anything) -> Indices:
        """Convert uint64 addresses to offsets in the arena. An address outside the arena becomes 0, an offset that is in no
        buffer.
        """
        offsets = (addresses - np.uint64(BASE)).astype(np.uint64)
        inside: Indices = np.where(offsets < np.uint64(len(self.data) - 64), offsets, np.uint64(0)).astype(np.int64)
        return inside

    def describe(self, address: int, base: int | None = None) -> str:
        """Describe an address relative to the nearest buffer, e.g. `4 bytes after the end of x (64 bytes)`. If `base`, the
        scalar part of the address, is given and more than GAP bytes away from it, the text is relative to `base`; without, an
        address that is so far from every buffer is told as a number, because the nearest isn't the one that was meant.
        """
        if base is not None and abs(address - base) > GAP:
            return f"{address - base} bytes from an address that is {self.describe(base)}"
        offset = address - BASE

        def distance(buffer: Buffer) -> int:
            return max(buffer.offset - offset, offset - buffer.offset - buffer.size + 1, 0)

        nearest = min(self.buffers, key=distance)
        if distance(nearest) > GAP:
            return f"{address:#x}, far from every array"
        if offset < nearest.offset:
            return f"{nearest.offset - offset} bytes before {nearest.name} ({nearest.size} bytes)"
        if offset >= nearest.offset + nearest.size:
            return f"{offset - nearest.offset - nearest.size} bytes after the end of {nearest.name} ({nearest.size} bytes)"
        return f"byte {offset - nearest.offset} of {nearest.name}"
