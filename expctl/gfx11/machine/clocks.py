"""What the waves know of each other: which accesses atomics and barriers have ordered before their own (vector clocks).

A wave's accesses carry its stamp, which grows each time that it has waited for all of them. An atomic releases what its wave
had waited for by then: whoever later gets a value from the same place acquires, and knows of every access that the first wave
had made or known of at that wait. At a barrier the waves of a workgroup tell each other all they know.
"""

from __future__ import annotations

from collections.abc import Iterable

Known = dict[int, int]
"""Wave -> its last stamp whose accesses have ended before."""
Place = tuple[int, int]
"""Number of a workgroup, for its LDS, or -1 for global memory; and the offset of a byte."""
NOTHING: tuple[Known, int] = ({}, -1)


class Clocks:
    """Vector clocks of one launch. A mapping in `_known` or `_released` is replaced, never changed, so that many share it."""

    def __init__(self) -> None:
        self._stamps: dict[int, int] = {}
        self._known: dict[int, Known] = {}
        self._released: dict[Place, Known] = {}
        self._settled: dict[int, tuple[Known, int]] = {}
        """Wave -> what it knew when no access of it was under way, and its last stamp then."""

    def stamp(self, agent: int) -> int:
        """Return the stamp of what wave `agent` does now."""
        return self._stamps.get(agent, 0)

    def knows(self, agent: int, other: int, stamp: int) -> bool:
        """Return whether what wave `other` did at `stamp` is ordered before what wave `agent` does now."""
        return stamp <= self._known.get(agent, {}).get(other, -1)

    def meet(self, agents: Iterable[int]) -> None:
        """Let the waves of a workgroup tell each other what they know, at a barrier."""
        together: Known = {}
        met = list(agents)
        for agent in met:
            together = _joined(together, self._known.get(agent, {}))
            together[agent] = self._end_stamp(agent)
        for agent in met:
            self._known[agent] = together
            self._settled[agent] = (together, self._settled.get(agent, NOTHING)[1])

    def settle(self, agent: int) -> None:
        """Record that wave `agent` has waited for all its accesses."""
        self._settled[agent] = (self._known.get(agent, {}), self._end_stamp(agent))

    def exchange(self, agent: int, places: Iterable[Place], *, releases: bool, acquires: bool) -> None:
        """Let an atomic of wave `agent` on each of `places` release what has settled, acquire what is there, or both."""
        mine = self._known.get(agent, {})
        known, stamp = self._settled.get(agent, NOTHING)
        told = {**known, agent: stamp} if releases else None
        for place in places:
            found = self._released.get(place)
            if acquires and found is not None:
                mine = _joined(mine, found)
            if told is not None:
                self._released[place] = _joined(found or {}, told)
        self._known[agent] = mine

    def _end_stamp(self, agent: int) -> int:
        stamp = self.stamp(agent)
        self._stamps[agent] = stamp + 1
        return stamp


def _joined(one: Known, other: Known) -> Known:
    joined = dict(one)
    for agent, stamp in other.items():
        joined[agent] = max(stamp, joined.get(agent, -1))
    return joined
