"""The latest accesses to each part of a memory, kept for cells of bytes that have always been accessed together.

A cell has 16 bytes at first, and fewer as soon as an access doesn't consist of whole cells. So what is kept is exact for every
byte, and most accesses touch few cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from expctl.gfx11.machine.arrays import Flags, Indices
from expctl.gfx11.machine.pieces import Pieces, counted

Tags = NDArray[np.int32]
_LARGEST = 4
"""Log2 of a cell's bytes at first."""


class Latest:
    """The latest accesses of one kind to each of `size` cells, as tags: the last, the last of another wave than that one, and,
    where several workgroups share the memory, the last of another workgroup.
    """

    def __init__(self, size: int, *, shared: bool) -> None:
        self.kept: list[Tags] = [np.zeros(size, dtype=np.int32) for _ in range(3 if shared else 2)]

    def split(self, parts: int) -> None:
        """Make `parts` cells of each."""
        self.kept = [np.repeat(tags, parts) for tags in self.kept]

    def note(self, tags: Tags | int, cells: Indices, agents: Tags, groups: Tags) -> bool:
        """Record an access to each of `cells` by its own tag, or by one for all; `agents` and `groups` are those of each tag.
        Record nothing and return False if one cell has several tags.
        """
        last, other, *foreign = self.kept
        before = last.take(cells)
        last[cells] = tags
        if not isinstance(tags, int) and (last.take(cells) != tags).any():
            last[cells] = before
            return False
        other[cells] = np.where(agents.take(before) == agents.take(tags), other.take(cells), before)
        for each in foreign:
            each[cells] = np.where(groups.take(before) == groups.take(tags), each.take(cells), before)
        return True

    def tags(self, cells: Indices) -> set[int]:
        """Return the tags recorded for any of `cells`."""
        return {tag for tags in self.kept for tag in distinct(tags.take(cells))}


class Cells:
    """The cells of the bytes from `begin` to `end` of a memory: the last writer of each, and the latest readers, atomics and
    atomic loads. `was_read` says which have been read since the last barrier; it is used for LDS alone.
    """

    def __init__(self, begin: int, end: int, *, shared: bool, atomics: bool) -> None:
        self.begin, self.end = begin, end
        self._grain = _LARGEST
        size = (end - begin >> _LARGEST) + 1
        self.writers: Tags = np.zeros(size, dtype=np.int32)
        self.readers = Latest(size, shared=shared)
        self.atomics, self.atomic_loads = (Latest(size, shared=shared) if atomics else None for _ in range(2))
        self.was_read: Flags = np.zeros(0 if shared else size, dtype=np.bool_)

    def of(self, pieces: Pieces) -> tuple[Indices, int]:
        """Return the cells of `pieces`, and how many each piece has: those of the first, then those of the second, ..."""
        if self._grain:
            low = pieces.low | self.begin
            needed = (low & -low).bit_length() - 1
            if needed < self._grain:
                self._split(needed)
        first = pieces.where - self.begin >> self._grain
        count = pieces.width >> self._grain
        return (first, 1) if count == 1 else ((first[:, None] + counted(count)).reshape(-1), count)

    def _split(self, grain: int) -> None:
        parts = 1 << self._grain - grain
        self._grain = grain
        self.writers, self.was_read = np.repeat(self.writers, parts), np.repeat(self.was_read, parts)
        for latest in (self.readers, self.atomics, self.atomic_loads):
            if latest is not None:
                latest.split(parts)


@dataclass(frozen=True, slots=True)
class Read:
    """A read of one wave, or reads of several: of all `pieces` by `tags`, or of each by the element of `tags` beside it."""

    tags: Tags | int
    region: Cells
    pieces: Pieces

    def by(self, lasting: list[int]) -> Read | None:
        """Return the part that is by one of the accesses `lasting`; None if there is none."""
        if isinstance(self.tags, int):
            return self if self.tags in lasting else None
        kept = np.isin(self.tags, lasting)
        return Read(self.tags[kept], self.region, self.pieces.among(kept)) if kept.any() else None


def distinct(tags: Tags) -> set[int]:
    """Return the different tags, 0 among them; none if all are 0."""
    return set(np.unique(tags).tolist()) if tags.any() else set()
