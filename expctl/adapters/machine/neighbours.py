"""Runs of expctl that measure or test on another card of this machine (`gate: cards: own`), which are not foreign."""

from collections.abc import Iterable

from expctl.adapters.machine.device_lock import MachineLock
from expctl.adapters.sensors.process_table import ProcessTable
from expctl.domain.machine.interference import Foreign


class Neighbours:
    """Tells neighbours from strangers. `card` is the name of the card that is measured here; while it is "", there are none."""

    def __init__(self, lock: MachineLock, table: ProcessTable) -> None:
        self.card = ""
        self._lock, self._table = lock, table

    def strangers(self, found: Iterable[Foreign]) -> tuple[Foreign, ...]:
        """Return those of `found` whose process neither holds the lock of another card nor descends from one that does.

        Locks are read at each call that has found any, at the first one and after the last: who works on a card has its lock
        before, and may end both during the call.
        """
        if not self.card:
            return tuple(found)
        held: set[int] = set()
        seen: list[tuple[Foreign, set[int]]] = []
        for each in found:
            held = held if seen else self._pids()
            seen.append((each, {*self._table.ancestry(each.pid)}))
        if seen:
            held |= self._pids()
        return tuple(each for each, line in seen if held.isdisjoint(line))

    def _pids(self) -> set[int]:
        others = (card for card in self._lock.cards() if card != self.card)
        return {pid for card in others for pid in MachineLock(self._lock.path.parent, card=card).pids()}
