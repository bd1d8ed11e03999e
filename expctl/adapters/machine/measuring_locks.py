"""The locks of a run: the machine's, and with `gate: cards: own` that of the card it is timed on.

The machine's is always taken first and none is ever upgraded, and who holds a card asks for nothing more, so nobody waits in a
circle (docs/decisions/043-a-lock-for-each-card.md).
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator

from expctl.adapters.machine.device_lock import WAITING, LockHolder, MachineLock
from expctl.adapters.machine.neighbours import Neighbours
from expctl.adapters.machine.own_cards import OwnCard, OwnCards
from expctl.adapters.sensors.process_table import ProcessTable
from expctl.domain.errors import Refused
from expctl.domain.machine.interference import Foreign
from expctl.domain.protocol.model import Target

ALONE = "expctl is measuring"
Told = Callable[[str, float, tuple[Foreign, ...]], None]


class MeasuringLocks:
    """Takes and shows the locks. `lock` is the machine's. With `cards`, a target that is timed on a GPU keeps its card and
    shares the machine; without, every measurement keeps the machine. `neighbours` is told which card is measured.
    """

    def __init__(
        self,
        lock: MachineLock,
        table: ProcessTable,
        *,
        experiment: str = "",
        cards: OwnCards | None = None,
        neighbours: Neighbours | None = None,
    ) -> None:
        self.machine, self._table, self._experiment = lock, table, experiment
        self._cards, self._neighbours = cards, neighbours
        self._of_cards: dict[str, MachineLock] = {}
        self._alone: MachineLock | None = None
        self._card: OwnCard | None = None
        self._told: Told = lambda _what, _waited_s, _others: None

    def check(self, target: Target | None = None) -> str:
        """Return the name of the card that `target` keeps ("": none). Raises Refused if a lock's file can't be used or `target`
        has no card of its own where it needs one.
        """
        self.machine.check()
        if (card := self._card_of(target)) is None:
            return ""
        self._of(card).check()
        return card.name

    @contextlib.contextmanager
    def working(self, target: Target | None, *, wait_s: float) -> Iterator[None]:
        """Hold the machine's lock, and that of the card that `target` is tested on, shared; nothing if `alone` holds them."""
        if self._alone is not None:
            yield
            return
        card, started = self._card_of(target), time.monotonic()
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.machine.shared(wait_s=wait_s))
            if card is not None:
                stack.enter_context(self._of(card).shared(wait_s=max(0.0, wait_s - (time.monotonic() - started))))
            yield

    @contextlib.contextmanager
    def alone(self, target: Target, *, wait_s: float) -> Iterator[MachineLock]:
        """Hold what `target` needs for itself, and yield that lock. Raises Busy after `wait_s` seconds."""
        card, started = self._card_of(target), time.monotonic()
        with contextlib.ExitStack() as stack:
            if card is None:
                held = self.machine
            else:
                stack.enter_context(self.machine.shared(wait_s=wait_s))
                held = self._of(card)
                wait_s = max(0.0, wait_s - (time.monotonic() - started))
            stack.enter_context(held.alone(wait_s=wait_s))
            self._alone, self._card = held, card
            try:
                yield held
            finally:
                self._alone = self._card = None

    def wait_by(self, told: Told) -> None:
        """Call `told` while a lock is waited for, with its name, the seconds waited, and who holds it. It may raise."""
        self._told = told
        self.machine.while_waiting = lambda waited_s: told("the machine's lock", waited_s, held(self.machine, self._table))

    def blocking(self, target: Target | None) -> tuple[Foreign, ...]:
        """Return who holds what `target` needs; () while it is held here. Sets what counts as a neighbour for the sensors."""
        try:
            card = self._card_of(target)
        except Refused as refusal:
            return (Foreign(sensor="lock", what=refusal.message, detail=f"{refusal.where}: {refusal.found}"),)
        if self._neighbours is not None:
            self._neighbours.card = card.name if card is not None else ""
        if self._alone is not None:
            return ()
        if card is None:
            return held(self.machine, self._table)
        return (*held(self.machine, self._table, only_alone=True), *held(self._of(card), self._table))

    def beside(self, target: Target | None) -> tuple[Foreign, ...]:
        """Return the runs that measure or test on other cards while `target` has one of its own; () if it needs them all."""
        try:
            own = self._card_of(target)
        except Refused:
            return ()
        if own is None:
            return ()
        others = {card: holders for card, holders in self.machine.holders_of_cards().items() if card != own.name}
        return tuple(_shown(each, self._table, card) for card, holders in others.items() for each in holders)

    def core(self) -> int:
        """Return the core that a pinned worker runs on: the last one, but another one for each card that is measured."""
        cores = sorted(os.sched_getaffinity(0))
        return cores[-1 - (self._card.index if self._card is not None else 0) % len(cores)]

    def _card_of(self, target: Target | None) -> OwnCard | None:
        return self._cards.of(target) if self._cards is not None else None

    def _of(self, card: OwnCard) -> MachineLock:
        if card.name not in self._of_cards:
            lock = MachineLock(self.machine.path.parent, card=card.name, experiment=self._experiment)
            words = f"the lock of card {card.name}"
            lock.while_waiting = lambda waited_s: self._told(words, waited_s, held(lock, self._table))
            self._of_cards[card.name] = lock
        return self._of_cards[card.name]


def held(lock: MachineLock, table: ProcessTable, *, only_alone: bool = False) -> tuple[Foreign, ...]:
    """Return the processes that hold a lock (`only_alone`: for themselves), and since when. If the lock can't be opened, return
    one entry that says why.
    """
    try:
        lock.look()
    except Refused as refusal:
        return (Foreign(sensor="lock", what=refusal.message, detail=f"{refusal.where}: {refusal.found}"),)
    return tuple(_shown(each, table, lock.card) for each in lock.holders() if each.is_alone or not only_alone)


def _shown(holder: LockHolder, table: ProcessTable, card: str) -> Foreign:
    facts, on = holder.facts, card or holder.card
    waits = facts is not None and facts.step == WAITING
    what = "expctl waits for a quiet machine" if waits else ALONE if holder.measures else "expctl builds or tests"
    doing = f"{facts.experiment}, step {facts.step}" if facts and facts.experiment else ""
    since = facts.since if facts else table.since(holder.pid)
    what += f" on card {on}" if on else ""
    return Foreign(sensor="lock", what=what, detail=doing, pid=holder.pid, who=table.who(holder.pid), since=since)
