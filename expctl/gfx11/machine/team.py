"""The waves of a workgroup while they take the same way: one array of lanes, on which an instruction runs once for all.

A Team looks like a wide Wave to instructions that treat every lane alike and use no register that is undefined or awaited. All
others run wave by wave, on the same registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from expctl.gfx11.machine.arrays import LANES, Flags, Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from expctl.gfx11.machine.wave import Wave


class Team:
    """All waves of a workgroup; `storage` has their vector registers, (registers, waves, 32). Rows are those of Wave, for the
    lanes of all waves: (waves * 32,).
    """

    __slots__ = ("_dirty", "_scalars", "f32", "full", "high", "i32", "lanes", "low", "size", "u32", "vector", "waves")

    def __init__(self, waves: Sequence[Wave], storage: Words) -> None:
        self.waves = tuple(waves)
        self.size = len(waves) * LANES
        self.vector: Words = storage.reshape(len(storage), self.size)
        self.u32 = list(self.vector)
        self.i32 = list(self.vector.view(np.int32))
        self.f32 = list(self.vector.view(np.float32))
        halves = self.vector.view(np.float16)
        self.low, self.high = list(halves[:, 0::2]), list(halves[:, 1::2])
        self._scalars = [wave.scalar for wave in waves]
        self._dirty = [wave.dirty for wave in waves]
        self.look()

    def look(self) -> None:
        """Read anew which lanes are active, after an instruction that ran wave by wave."""
        self.full = all(wave.full for wave in self.waves)
        self.lanes: Flags = np.concatenate([wave.lanes for wave in self.waves])

    def may_run(self, touched: frozenset[int]) -> bool:
        """Is none of the registers `touched` undefined or awaited in any wave?"""
        return all(dirty.isdisjoint(touched) for dirty in self._dirty)

    def narrow_exec(self, result: Flags) -> None:
        """Keep those active lanes active whose flag in `result` is set."""
        for wave, bits in zip(self.waves, _words(result), strict=True):
            wave.set_exec(bits & wave.exec)
        self.look()

    def put_mask(self, index: int, result: Flags) -> None:
        """Write flags of the lanes as each wave's mask in scalar register `index`; inactive lanes get 0."""
        for wave, bits in zip(self.waves, _words(result), strict=True):
            wave.scalar[index] = bits & wave.exec

    def mask(self, index: int) -> Flags:
        """Return the masks in scalar register `index` as flags of the lanes."""
        words = np.array([scalar[index] for scalar in self._scalars], dtype=np.uint32)
        return np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_)

    def spread(self, index: int, into: Words) -> None:
        """Write the values of scalar register `index` to the first elements of `into`, one for each lane."""
        _spread([scalar[index] for scalar in self._scalars], into[: self.size])

    def spread_pair(self, index: int, into: NDArray[np.uint64]) -> None:
        """Write the values of a pair of scalar registers to the first elements of `into`, one for each lane."""
        _spread([scalar[index] | scalar[index + 1] << 32 for scalar in self._scalars], into[: self.size])


def _spread(values: list[int], into: Words | NDArray[np.uint64]) -> None:
    if values.count(values[0]) == len(values):
        into[:] = values[0]
    else:
        into.reshape(len(values), LANES)[:] = np.array(values, dtype=into.dtype)[:, None]


def _words(flags: Flags) -> list[int]:
    found: list[int] = np.packbits(flags, bitorder="little").view(np.uint32).tolist()
    return found
