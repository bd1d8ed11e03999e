"""Detect data races: two waves access a byte, one of them writes, and no barrier orders the accesses.

The result doesn't depend on the order in which the interpreter runs the waves. Time is counted in epochs: the number of
barriers that the workgroup has passed. An access lasts from the epoch in which it was issued to the one in which a wait proved
that it had ended. Two accesses of one workgroup are ordered only if one ends in an earlier epoch than the other begins;
accesses of different workgroups are never ordered.

For each byte, the log keeps the last writer, the last reader, and the last reader in a different wave from that one. So
whichever wave writes next, the last reader among the other waves is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from expctl.gfx11.machine.arrays import Indices

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


class AccessLog:
    """Log of the accesses to one memory of `size` bytes. A tag is the index of an access in the log; tag 0 stands for no
    access.
    """

    def __init__(self, size: int) -> None:
        self.writers: Tags = np.zeros(size, dtype=np.int32)
        self.readers: Tags = np.zeros(size, dtype=np.int32)
        self.other_readers: Tags = np.zeros(size, dtype=np.int32)
        self._accesses = [Access(line=0, agent=-1, group=-1, begun=-1, ended=-1)]
        self._agents = np.full(1024, -1, dtype=np.int32)
        self._last_write: dict[int, int] = {}
        self._last_read: dict[int, int] = {}

    def begin(self, access: Access, *, writes: bool) -> int:
        """Add an access that starts now to the log; return its tag. `writes` says whether it writes or reads."""
        tag = len(self._accesses)
        self._accesses.append(access)
        if tag >= len(self._agents):
            self._agents = np.concatenate((self._agents, np.full_like(self._agents, -1)))
        self._agents[tag] = access.agent
        last = self._last_write if writes else self._last_read
        last[access.agent] = max(last.get(access.agent, -1), access.ended)
        return tag

    def extend(self, tag: int) -> None:
        """Record that the access `tag` may still be under way after the next barrier."""
        access = self._accesses[tag]
        access.ended = FOREVER
        self._last_write[access.agent] = self._last_read[access.agent] = FOREVER

    def end(self, tag: int, epoch: int) -> None:
        """Record that the access `tag`, for which `extend` was called, ended when `epoch` barriers had been passed."""
        self._accesses[tag].ended = epoch

    def read(self, tag: int, where: Indices, *, ordered: bool) -> list[Access]:
        """Record that the access `tag` reads the bytes `where`; return the writes that it races with. `ordered` is True for a
        memory that only one workgroup accesses (LDS), so that barriers order its accesses.
        """
        access = self._accesses[tag]
        is_alone = ordered and self._is_alone(self._last_write, access)
        conflicts = [] if is_alone else self._conflicts(access, self.writers.take(where))
        before = self.readers.take(where)
        is_mine = self._agents.take(before) == access.agent
        self.other_readers[where] = np.where(is_mine, self.other_readers.take(where), before)
        self.readers[where] = tag
        return conflicts

    def write(self, tag: int, where: Indices, *, ordered: bool) -> list[Access]:
        """Record that the access `tag` writes the bytes `where`; return the reads and writes that it races with. `ordered` is
        True for a memory that only one workgroup accesses (LDS), so that barriers order its accesses.
        """
        access = self._accesses[tag]
        conflicts = []
        if not (ordered and self._is_alone(self._last_write, access)):
            conflicts += self._conflicts(access, self.writers.take(where))
        if not (ordered and self._is_alone(self._last_read, access)):
            conflicts += self._conflicts(access, self.readers.take(where))
            conflicts += self._conflicts(access, self.other_readers.take(where))
        self.writers[where] = tag
        return conflicts

    def _is_alone(self, last: dict[int, int], access: Access) -> bool:
        """Have all accesses of other waves ended before the last barrier? `last` maps a wave to the epoch of its latest one."""
        return all(epoch < access.begun for agent, epoch in last.items() if agent != access.agent)

    def _conflicts(self, access: Access, tags: Tags) -> list[Access]:
        if not tags.any():
            return []
        found = []
        for tag in np.unique(tags).tolist():
            other = self._accesses[tag]
            if other.agent in (access.agent, -1):
                continue
            if other.group != access.group or other.ended >= access.begun:
                found.append(other)
        return found
