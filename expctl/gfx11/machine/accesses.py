"""Detect data races: two waves access a byte, one of them writes, and no barrier orders the accesses.

The result doesn't depend on the order in which the interpreter runs the waves. Time is counted in epochs: the number of
barriers that the workgroup has passed. An access lasts from the epoch in which it was issued to the one in which a wait proved
that it had ended. Two accesses of one workgroup are ordered only if one ends in an earlier epoch than the other begins;
accesses of different workgroups are never ordered.

For each byte, by way of cells.py, the log keeps the last writer, and of readers, atomics and atomic loads the last one, the
last in a different wave from that one, and the last in a different workgroup. So whoever writes next, in whichever order, a
reader that it races with is known. Atomics don't race with each other, nor do loads, and atomics may order other accesses
(clocks.py).
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from expctl.gfx11.machine.arrays import Indices
from expctl.gfx11.machine.cells import Cells, Read, Tags, distinct
from expctl.gfx11.machine.clocks import Clocks
from expctl.gfx11.machine.pieces import Pieces

FOREVER = 1 << 30
MOST_WAITING_READS = 4096
"""An endless loop reads LDS for ever, perhaps at other addresses each time."""


@dataclass(slots=True)
class Access:
    """One execution of a memory instruction by one wave; `begun` and `ended` are the barriers passed at its start and end."""

    line: int
    agent: int
    """Number of the wave, unique in the launch; `group` is the number of its workgroup."""
    group: int
    begun: int
    ended: int
    """FOREVER while the access may outlast a barrier."""
    stamp: int = 0
    """The wave's clock: clocks.py."""


class AccessLog:
    """Log of the accesses to one memory. A tag is the index of an access in the log; tag 0 stands for no access. `regions` are
    the (begin, end) of the parts of the memory that are accessed, in order. `shared` says whether several workgroups use it; if
    not (LDS, which is one region), barriers order its accesses.
    """

    def __init__(self, regions: Sequence[tuple[int, int]], *, shared: bool, clocks: Clocks | None = None) -> None:
        self._regions = [Cells(begin, end, shared=shared, atomics=clocks is not None) for begin, end in regions]
        self._begins = [region.begin for region in self._regions]
        self._shared, self._clocks = shared, clocks
        self._notes_reads = shared
        self._epoch, self._settled = 0, 0
        self._lasting: list[int] = []
        self._reads: list[Read] = []
        self._noted = 0
        self._lines, self._begun, self._ended, self._stamps = (array("i") for _ in range(4))
        self._agents: Tags = np.full(1024, -1, dtype=np.int32)
        self._groups: Tags = np.full(1024, -1, dtype=np.int32)
        self.begin(Access(line=0, agent=-1, group=-1, begun=-1, ended=-1))

    def begin(self, access: Access) -> int:
        """Add an access that starts now to the log; return its tag."""
        tag = len(self._lines)
        self._lines.append(access.line)
        self._begun.append(access.begun)
        self._ended.append(access.ended)
        self._stamps.append(access.stamp)
        if tag >= len(self._agents):
            self._hold(tag + 1)
        self._agents[tag], self._groups[tag] = access.agent, access.group
        return tag

    def begin_several(self, line: int, agents: list[int], each: int, group: int, epoch: int) -> int:
        """Add `each` accesses of each of `agents`, waves of one workgroup, that start now; return the first of their tags."""
        first, count = len(self._lines), each * len(agents)
        self._lines.extend([line] * count)
        self._begun.extend([epoch] * count)
        self._ended.extend([epoch] * count)
        self._stamps.extend([0] * count)
        self._hold(first + count)
        self._agents[first : first + count] = np.repeat(agents, each)
        self._groups[first : first + count] = group
        return first

    def _hold(self, count: int) -> None:
        if count > len(self._agents):
            self._agents = np.concatenate((self._agents, np.full_like(self._agents, -1)))
            self._groups = np.concatenate((self._groups, np.full_like(self._groups, -1)))

    def extend(self, tag: int) -> None:
        """Record that the access `tag` may still be under way after the next barrier."""
        self._ended[tag] = FOREVER
        self._lasting.append(tag)

    def end(self, tag: int, epoch: int) -> None:
        """Record that the access `tag`, for which `extend` was called, ended when `epoch` barriers had been passed."""
        self._ended[tag] = epoch

    def read(self, tag: int, pieces: Pieces) -> list[Access]:
        """Record that the access `tag` reads; return the writes and atomics that it races with."""
        found: set[int] = set()
        for region, cells, count in self._places(pieces):
            found |= self._written(tag, region, cells)
            self._remember_read(Read(tag, region, pieces), cells, count)
        return self._conflicts(tag, found)

    def write(self, tag: int, pieces: Pieces) -> list[Access]:
        """Record that the access `tag` writes; return the accesses that it races with."""
        written: set[int] = set()
        read: set[int] = set()
        for region, cells, _ in self._places(pieces):
            read |= self._read(tag, region, cells)
            if region.atomic_loads is not None:
                read |= region.atomic_loads.tags(cells)
            written |= self._written(tag, region, cells)
            region.writers[cells] = tag
        return self._conflicts(tag, written) + self._conflicts(tag, read)

    def update(self, tag: int, pieces: Pieces) -> list[Access]:
        """Record that the atomic `tag` reads and writes; return the loads and stores that it races with."""
        found: set[int] = set()
        for region, cells, _ in self._places(pieces):
            found |= self._distinct(tag, region.writers, cells) | self._read(tag, region, cells)
            if region.atomics is not None:
                region.atomics.note(tag, cells, self._agents, self._groups)
        return self._conflicts(tag, found)

    def load_atomically(self, tag: int, pieces: Pieces) -> list[Access]:
        """Record that the atomic load `tag` reads; return the plain stores that it races with."""
        found: set[int] = set()
        for region, cells, _ in self._places(pieces):
            found |= self._distinct(tag, region.writers, cells)
            if region.atomic_loads is not None:
                region.atomic_loads.note(tag, cells, self._agents, self._groups)
        return self._conflicts(tag, found)

    def read_at_once(self, tags: Sequence[int], owners: Indices, pieces: Pieces) -> bool:
        """Record the reads of several waves, in the order of `tags`; that of `tags[i]` is of the pieces whose
        element of `owners` is i. Record nothing and return False if one of them may race.
        """
        places = self._places(pieces)
        if self._clocks is not None or len(places) > 1:
            return False
        if not places:
            return True
        ((region, cells, count),) = places
        of_pieces = np.array(tags, dtype=np.int32).take(owners)
        self._advance(min(tags))
        if not self._all_own(region.writers.take(cells), of_pieces, count):
            return False
        self._remember_read(Read(of_pieces, region, pieces), cells, count)
        return True

    def write_at_once(self, tags: Sequence[int], owners: Indices, pieces: Pieces) -> bool:
        """Record the writes of several waves, as `read_at_once` does reads. Record nothing and return False if one of them may
        race, with an earlier access or with one of the others.
        """
        places = self._places(pieces)
        if self._clocks is not None or len(places) > 1:
            return False
        if not places:
            return True
        ((region, cells, count),) = places
        of_pieces = np.array(tags, dtype=np.int32).take(owners)
        self._advance(min(tags))
        before = region.writers.take(cells)
        kept = [before]
        if self._are_reads_noted(region, cells):
            kept += [each.take(cells) for each in region.readers.kept]
        if not all(self._all_own(each, of_pieces, count) for each in kept):
            return False
        of_cells = of_pieces.repeat(count)
        region.writers[cells] = of_cells
        if (region.writers.take(cells) != of_cells).any():
            region.writers[cells] = before
            return False
        return True

    def _all_own(self, found: Tags, of_pieces: Tags, count: int) -> bool:
        """Return whether each of the accesses `found`, `count` for each of `of_pieces`, is of the same wave, or settled."""
        if int(found.max(initial=0)) <= self._settled:
            return True
        own = self._agents.take(found) == self._agents.take(of_pieces).repeat(count)
        return bool((own | (found <= self._settled)).all())

    def _places(self, pieces: Pieces) -> Sequence[tuple[Cells, Indices, int]]:
        """Return each region that is touched, its cells that are, and how many of them each of its pieces has."""
        if pieces.where.size == 0:
            return ()
        if not self._shared:
            region = self._regions[0]
            return ((region, *region.of(pieces)),)
        least, most = int(pieces.where.min()), int(pieces.where.max())
        at = max(bisect_right(self._begins, least) - 1, 0)
        region = self._regions[at]
        if region.begin <= least and most < region.end:
            return ((region, *region.of(pieces)),)
        parts = [(each, (pieces.where >= each.begin) & (pieces.where < each.end)) for each in self._regions[at:]]
        return [(each, *each.of(pieces.among(inside))) for each, inside in parts if inside.any()]

    def _written(self, tag: int, region: Cells, cells: Indices) -> set[int]:
        found = self._distinct(tag, region.writers, cells)
        return found if region.atomics is None else found | region.atomics.tags(cells)

    def _read(self, tag: int, region: Cells, cells: Indices) -> set[int]:
        self._advance(tag)
        return region.readers.tags(cells) if self._are_reads_noted(region, cells) else set()

    def _are_reads_noted(self, region: Cells, cells: Indices) -> bool:
        """Return whether `cells` may have been read since the last barrier; if so, region.readers has by whom."""
        if self._notes_reads:
            return True
        if not region.was_read.take(cells).any():
            return False
        self._note_reads()
        return True

    def _remember_read(self, read: Read, cells: Indices, count: int) -> None:
        if self._notes_reads:
            self._note(read, cells, count)
            return
        read.region.was_read[cells] = True
        self._reads.append(read)
        if len(self._reads) > MOST_WAITING_READS:
            self._note_reads()
            self._reads, self._notes_reads = [], True

    def _note_reads(self) -> None:
        """Record the reads since the last barrier cell by cell, because a write to some of them came."""
        for read in self._reads[self._noted :]:
            self._note(read, *read.region.of(read.pieces))
        self._noted = len(self._reads)

    def _note(self, read: Read, cells: Indices, count: int) -> None:
        readers, tags = read.region.readers, read.tags
        if isinstance(tags, int):
            readers.note(tags, cells, self._agents, self._groups)
            return
        of_cells = tags.repeat(count)
        if not readers.note(of_cells, cells, self._agents, self._groups):  # several waves read the same
            for tag in sorted(distinct(tags)):
                readers.note(tag, cells[of_cells == tag], self._agents, self._groups)

    def _distinct(self, tag: int, tags: Tags, cells: Indices) -> set[int]:
        """Return the tags of `cells` that may not be ordered before the access `tag` by a barrier."""
        self._advance(tag)
        found = tags.take(cells)
        return distinct(found) if found.max(initial=0) > self._settled else set()

    def _advance(self, tag: int) -> None:
        """Forget what a barrier has ordered before the access `tag`, where one workgroup alone uses the memory: its reads, but
        for those that outlast the barrier, and every access up to the one numbered `_settled`.
        """
        epoch = self._begun[tag]
        if self._shared or epoch == self._epoch:
            return
        self._epoch = epoch
        self._lasting = [other for other in self._lasting if self._ended[other] >= epoch]
        self._settled = min(self._lasting, default=tag) - 1
        (region,) = self._regions
        region.was_read[:] = False
        self._reads = [kept for read in self._reads if (kept := read.by(self._lasting))] if self._lasting else []
        self._noted = 0
        for read in self._reads:
            region.was_read[region.of(read.pieces)[0]] = True

    def _conflicts(self, tag: int, tags: Iterable[int]) -> list[Access]:
        return [self._access(other) for other in sorted(tags) if not self._is_ordered(other, tag)]

    def _access(self, tag: int) -> Access:
        return Access(
            line=self._lines[tag],
            agent=int(self._agents[tag]),
            group=int(self._groups[tag]),
            begun=self._begun[tag],
            ended=self._ended[tag],
            stamp=self._stamps[tag],
        )

    def _is_ordered(self, other: int, tag: int) -> bool:
        """Is the access `other` ordered before the access `tag`: of the same wave, by a barrier, or by atomics?"""
        agent, before = self._agents[tag], self._agents[other]
        if before in (agent, -1):
            return True
        if self._groups[other] == self._groups[tag] and self._begun[other] != self._begun[tag]:
            return self._ended[other] < self._begun[tag]
        return self._clocks is not None and self._clocks.knows(int(agent), int(before), self._stamps[other])
