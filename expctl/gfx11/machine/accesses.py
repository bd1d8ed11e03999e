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

from expctl.gfx11.machine.arrays import Indices
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
        self._accesses = [Access(line=0, agent=-1, group=-1, begun=-1, ended=-1)]
        self._agents: Tags = np.full(1024, -1, dtype=np.int32)
        self._groups: Tags = np.full(1024, -1, dtype=np.int32)
        self._last_write: dict[int, int] = {}
        self._last_read: dict[int, int] = {}

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
        access = self._accesses[tag]
        access.ended = FOREVER
        self._last_write[access.agent] = self._last_read[access.agent] = FOREVER

    def end(self, tag: int, epoch: int) -> None:
        """Record that the access `tag`, for which `extend` was called, ended when `epoch` barriers had been passed."""
        self._accesses[tag].ended = epoch

    def read(self, tag: int, where: Indices) -> list[Access]:
        """Record that the access `tag` reads the bytes `where`; return the writes and atomics that it races with."""
        access = self._accesses[tag]
        found = [] if self._is_alone(self._last_write, access) else self._conflicts(access, self._written(where))
        _renew(self._last_read, access)
        self._readers.note(tag, where, self._agents, self._groups)
        return found

    def write(self, tag: int, where: Indices) -> list[Access]:
        """Record that the access `tag` writes the bytes `where`; return the accesses that it races with."""
        access = self._accesses[tag]
        found: list[Access] = []
        if not self._is_alone(self._last_write, access):
            found += self._conflicts(access, self._written(where))
        if not self._is_alone(self._last_read, access):
            found += self._conflicts(access, self._readers.tags(where))
        _renew(self._last_write, access)
        self._writers[where] = tag
        return found

    def update(self, tag: int, where: Indices) -> list[Access]:
        """Record that the atomic `tag` reads and writes the bytes `where`; return the loads and stores that it races with."""
        access = self._accesses[tag]
        found = self._conflicts(access, _distinct(self._writers.take(where)) | self._readers.tags(where))
        _renew(self._last_write, access)
        if self._atomics is not None:
            self._atomics.note(tag, where, self._agents, self._groups)
        return found

    def _written(self, where: Indices) -> set[int]:
        found = _distinct(self._writers.take(where))
        return found if self._atomics is None else found | self._atomics.tags(where)

    def _is_alone(self, last: dict[int, int], access: Access) -> bool:
        """Have all accesses of other waves ended before the last barrier? `last` maps a wave to the epoch of its latest one."""
        return not self._shared and all(epoch < access.begun for agent, epoch in last.items() if agent != access.agent)

    def _conflicts(self, access: Access, tags: Iterable[int]) -> list[Access]:
        return [other for tag in sorted(tags) if not self._is_ordered(other := self._accesses[tag], access)]

    def _is_ordered(self, other: Access, access: Access) -> bool:
        """Is `other` ordered before `access`: of the same wave, by a barrier, or by atomics?"""
        if other.agent in (access.agent, -1):
            return True
        if other.group == access.group and other.begun != access.begun:
            return other.ended < access.begun
        return self._clocks is not None and self._clocks.knows(access.agent, other.agent, other.stamp)


def _renew(last: dict[int, int], access: Access) -> None:
    last[access.agent] = max(last.get(access.agent, -1), access.ended)


def _distinct(tags: Tags) -> set[int]:
    return set(np.unique(tags).tolist()) if tags.any() else set()
