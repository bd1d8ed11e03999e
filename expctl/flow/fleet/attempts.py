"""The journals of attempts: what the head was told, written down before anything follows from it."""

from collections.abc import Iterator
from typing import Any

from expctl.domain.errors import Refused
from expctl.domain.fleet.events import Assigned, FleetEvent, GivenUp
from expctl.domain.run.events import Measured
from expctl.flow.fleet.landing import Attempt
from expctl.ports.fleet import Finished, Told
from expctl.ports.repository import Journal


class Attempts:
    """All attempts below one folder, of which `journal` is the journal: a file each, named `EXPERIMENT.ATTEMPT`."""

    def __init__(self, journal: Journal) -> None:
        self._journal: Any = journal
        self._events: dict[tuple[str, int], int] = {}
        self._last: dict[str, int] = {}
        self._read: dict[str, Attempt] = {}  # newest attempts, until something is written to them
        for name in journal.unfinished():
            experiment, _, number = name.rpartition(".")
            self._last[experiment] = max(self._last.get(experiment, 0), int(number))

    def last(self, experiment: str) -> int:
        """Return the number of the newest attempt at an experiment; 0 for none."""
        return self._last.get(experiment, 0)

    def newest(self, experiment: str) -> Attempt:
        """Read the newest attempt at an experiment. Raises ValueError if there is none."""
        if experiment not in self._read:
            self._read[experiment] = self.read(experiment, self.last(experiment))
        return self._read[experiment]

    def read(self, experiment: str, attempt: int) -> Attempt:
        """Read an attempt. Raises ValueError if it isn't there."""
        return Attempt.of(self._journal.read(self._name(experiment, attempt)))

    def open(self) -> Iterator[Attempt]:
        """Read the newest attempt of each experiment, unless it was given up. One that a power cut has damaged is forgotten."""
        for experiment, number in sorted(self._last.items()):
            lines = self._sound(experiment, number)
            if lines and not any(isinstance(line, GivenUp) for line in lines):
                yield Attempt.of(lines)

    def begin(self, assigned: Assigned) -> None:
        """Begin an attempt. Evidence under the same number, from before the experiment was concluded once, makes way."""
        self._last[assigned.id] = assigned.attempt
        self._journal.forget(self._name(assigned.id, assigned.attempt))
        self._append(assigned.id, assigned.attempt, assigned)
        self._events[assigned.id, assigned.attempt] = 0

    def tell(self, told: Told) -> None:
        """Write down an event. One that is there already, because the worker has sent it twice, is left out, and so is a round
        that is not of the device that tells it.
        """
        if isinstance(told.event, Measured) and any(sample.device != told.device for sample in told.event.samples):
            return
        if told.number == self._count(told.id, told.attempt):
            self._append(told.id, told.attempt, told.event)
            self._events[told.id, told.attempt] += 1

    def judged(self, finished: Finished) -> None:
        """Write down that an attempt has all that its verdict needs."""
        self._append(finished.id, finished.attempt, finished.judged)

    def tell_late(self, finished: Finished) -> None:
        """Write it down for an attempt that counts no more, if its journal is still there."""
        if self._journal.read(self._name(finished.id, finished.attempt)):
            self._append(finished.id, finished.attempt, finished.judged)

    def give_up(self, experiment: str, attempt: int, why: GivenUp) -> None:
        """Write down that an attempt counts no more."""
        lines = self._sound(experiment, attempt)
        if lines and not any(isinstance(line, GivenUp) for line in lines):
            self._append(experiment, attempt, why)

    def retire(self, experiment: str, attempt: int) -> None:
        """An experiment is concluded: its record has what counted. Attempts before that one stay, as evidence, and none of them
        is taken for an open one by the next head.
        """
        for earlier in range(1, attempt):
            self.give_up(experiment, earlier, GivenUp(why=f"attempt {attempt} counts"))
        self._journal.forget(self._name(experiment, attempt))
        self._events.pop((experiment, attempt), None)
        self._read.pop(experiment, None)

    def _sound(self, experiment: str, attempt: int) -> tuple[Any, ...]:
        """Read an attempt's journal. One that a power cut has damaged is forgotten."""
        try:
            lines: tuple[Any, ...] = self._journal.read(self._name(experiment, attempt))
        except Refused as refusal:
            if refusal.code != "journal-damaged":
                raise
            self._journal.forget(self._name(experiment, attempt))
            return ()
        return lines

    def _name(self, experiment: str, attempt: int) -> str:
        return f"{experiment}.{attempt}"

    def _count(self, experiment: str, attempt: int) -> int:
        """Return how many events of the run are written down; -1 if the attempt's journal is gone."""
        key = (experiment, attempt)
        if key not in self._events:
            lines = self._journal.read(self._name(experiment, attempt))
            self._events[key] = sum(not isinstance(line, FleetEvent) for line in lines) if lines else -1
        return self._events[key]

    def _append(self, experiment: str, attempt: int, line: object) -> None:
        self._read.pop(experiment, None)
        self._journal.append(self._name(experiment, attempt), line)
