"""Detect data races: two waves access a byte, one of them writes, and no barrier orders the accesses.

The result doesn't depend on the order in which the interpreter runs the waves. Time is counted in epochs: the number of
barriers that the workgroup has passed. An access lasts from the epoch in which it was issued to the one in which a wait proved
that it had ended. Two accesses of one workgroup are ordered only if one ends in an earlier epoch than the other begins;
accesses of different workgroups are never ordered.

For each byte, the log keeps the last writer, and of readers and atomics the last one, the last in a different wave from that
one, and the last in a different workgroup. So whoever writes next, in whichever order, a reader that it races with is known.
Atomics don't race with each other, and may order other accesses (clocks.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from expctl.gfx11.machine.arrays import Flags, Indices
from expctl.gfx11.machine.clocks import Clocks

FOREVER = 1 << 30
Tags = NDArray[np.int32]


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
    tag: int = 0
    """Its number in the log."""


class _Latest:
    """The latest accesses of one kind to each of `size` bytes, as tags: the last, the last of another wave than that one, and,
    where several workgroups share the memory, the last of another workgroup.
    """

    def __init__(self, size: int, *, shared: bool) -> None:
        self._last: Tags = np.zeros(size, dtype=np.int32)
        self._other: Tags = np.zeros(size, dtype=np.int32)
        self._foreign: Tags | None = np.zeros(size, dtype=np.int32) if shared else None

    def note(self, tag: int, where: Indices, agents: Tags, groups: Tags) -> None:
        """Record the access `tag` to the bytes `where`; `agents` and `groups` are those of each tag."""
        before = self._last.take(where)
        self._other[where] = np.where(agents.take(before) == agents[tag], self._other.take(where), before)
        if self._foreign is not None:
            self._foreign[where] = np.where(groups.take(before) == groups[tag], self._foreign.take(where), before)
        self._last[where] = tag

    def tags(self, where: Indices) -> set[int]:
        """Return the tags recorded for any of the bytes `where`."""
        kept = (self._last, self._other) if self._foreign is None else (self._last, self._other, self._foreign)
        return {tag for tags in kept for tag in _distinct(tags.take(where))}


class AccessLog:
    """Log of the accesses to one memory of `size` bytes. A tag is the index of an access in the log; tag 0 stands for no
    access. `shared` says whether several workgroups use the memory; if not (LDS), barriers order its accesses.
    """

    def __init__(self, size: int, *, shared: bool, clocks: Clocks | None = None) -> None:
        self._writers: Tags = np.zeros(size, dtype=np.int32)
        self._readers = _Latest(size, shared=shared)
        self._atomics = _Latest(size, shared=shared) if clocks is not None else None
        self._shared, self._clocks = shared, clocks
        self._epoch, self._settled = 0, 0
        self._lasting: list[int] = []
        self._reads: list[tuple[int, Indices]] = []
        self._noted = 0
        self._was_read: Flags = np.zeros(0 if shared else size, dtype=np.bool_)
        self._accesses = [Access(line=0, agent=-1, group=-1, begun=-1, ended=-1)]
        self._agents: Tags = np.full(1024, -1, dtype=np.int32)
        self._groups: Tags = np.full(1024, -1, dtype=np.int32)

    def begin(self, access: Access) -> int:
        """Add an access that starts now to the log; return its tag."""
        tag = len(self._accesses)
        self._accesses.append(access)
        if tag >= len(self._agents):
            self._agents = np.concatenate((self._agents, np.full_like(self._agents, -1)))
            self._groups = np.concatenate((self._groups, np.full_like(self._groups, -1)))
        self._agents[tag], self._groups[tag] = access.agent, access.group
        return tag

    def extend(self, tag: int) -> None:
        """Record that the access `tag` may still be under way after the next barrier."""
        self._accesses[tag].ended = FOREVER
        self._lasting.append(tag)

    def end(self, tag: int, epoch: int) -> None:
        """Record that the access `tag`, for which `extend` was called, ended when `epoch` barriers had been passed."""
        self._accesses[tag].ended = epoch

    def read(self, tag: int, where: Indices) -> list[Access]:
        """Record that the access `tag` reads the bytes `where`; return the writes and atomics that it races with."""
        found = self._conflicts(tag, self._written(tag, where))
        if self._shared:
            self._readers.note(tag, where, self._agents, self._groups)
        else:
            self._reads.append((tag, where))
            self._was_read[where] = True
        return found

    def write(self, tag: int, where: Indices) -> list[Access]:
        """Record that the access `tag` writes the bytes `where`; return the accesses that it races with."""
        found = self._conflicts(tag, self._written(tag, where)) + self._conflicts(tag, self._read(tag, where))
        self._writers[where] = tag
        return found

    def update(self, tag: int, where: Indices) -> list[Access]:
        """Record that the atomic `tag` reads and writes the bytes `where`; return the loads and stores that it races with."""
        found = self._conflicts(tag, self._distinct(tag, self._writers, where) | self._read(tag, where))
        if self._atomics is not None:
            self._atomics.note(tag, where, self._agents, self._groups)
        return found

    def _written(self, tag: int, where: Indices) -> set[int]:
        found = self._distinct(tag, self._writers, where)
        return found if self._atomics is None else found | self._atomics.tags(where)

    def _read(self, tag: int, where: Indices) -> set[int]:
        self._advance(tag)
        if not self._shared:
            if not self._was_read.take(where).any():
                return set()
            self._note_reads()
        return self._readers.tags(where)

    def _distinct(self, tag: int, tags: Tags, where: Indices) -> set[int]:
        """Return the tags of the bytes `where` that may not be ordered before the access `tag` by a barrier."""
        self._advance(tag)
        found = tags.take(where)
        return _distinct(found) if found.max(initial=0) > self._settled else set()

    def _advance(self, tag: int) -> None:
        """Forget what a barrier has ordered before the access `tag`, where one workgroup alone uses the memory: its reads, but
        for those that outlast the barrier, and every access up to the one numbered `_settled`.
        """
        epoch = self._accesses[tag].begun
        if self._shared or epoch == self._epoch:
            return
        self._epoch = epoch
        self._lasting = [other for other in self._lasting if self._accesses[other].ended >= epoch]
        self._settled = min(self._lasting, default=tag) - 1
        self._was_read[:] = False
        lasting = set(self._lasting)
        self._reads = [(other, where) for other, where in self._reads if other in lasting]
        self._noted = 0
        for _, where in self._reads:
            self._was_read[where] = True

    def _note_reads(self) -> None:
        """Record the reads since the last barrier byte by byte, because a write to some of them came."""
        for tag, where in self._reads[self._noted :]:
            self._readers.note(tag, where, self._agents, self._groups)
        self._noted = len(self._reads)

    def _conflicts(self, tag: int, tags: Iterable[int]) -> list[Access]:
        access = self._accesses[tag]
        return [other for tag in sorted(tags) if not self._is_ordered(other := self._accesses[tag], access)]

    def _is_ordered(self, other: Access, access: Access) -> bool:
        """Is `other` ordered before `access`: of the same wave, by a barrier, or by atomics?"""
        if other.agent in (access.agent, -1):
            return True
        if other.group == access.group and other.begun != access.begun:
            return other.ended < access.begun
        return self._clocks is not None and self._clocks.knows(access.agent, other.agent, other.stamp)


def _distinct(tags: Tags) -> set[int]:
    return set(np.unique(tags).tolist()) if tags.any() else set()
