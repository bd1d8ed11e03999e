"""The schedule of a fleet: which device measures which experiment, what lands when, what is judged again. Pure: no clock.

Experiments are judged side by side, each beside the kernel that is newest when it begins. What is not kept lands at once. A
KEEP waits until everything before it in the queue has landed. If the kernel is still the one beside which it was judged, it
lands; if an earlier KEEP has changed that, it is judged again beside the new kernel first. So no two changes land that were not
measured together, and the order of landing is the order of the queue, whichever device is quickest.

A confirmation measures a KEEP once more on another device, as evidence: when nothing else waits, and it holds nothing up. If
the KEEP `needs_second`, it is the other way round: the KEEP that would land next waits for the confirmation, which goes first.

Every operation takes logarithmic time, and what has landed is forgotten: 100,000 experiments cost no more each than 100.
"""

import heapq
from collections import OrderedDict, deque
from collections.abc import Iterable

from expctl.domain.fleet.assignment import Assignment, confirmation_of, experiment_of
from expctl.domain.fleet.scheduled import Entry, State


class Schedule:
    """The queue of a fleet. `kernel` identifies the sources that are newest now; a KEEP that lands brings another."""

    def __init__(self, kernel: str) -> None:
        self.kernel = kernel
        self._entries: dict[str, Entry] = {}
        self._places = 0
        self._waiting: list[tuple[bool, int, str]] = []
        self._order: OrderedDict[str, None] = OrderedDict()
        self._others: deque[str] = deque()
        self._checks: dict[str, None] = {}
        self._idle: dict[str, None] = {}
        self._runs: dict[str, str] = {}
        self._begun: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, experiment: str) -> bool:
        return experiment in self._entries

    # ------------------------------------------------------------------ what happens

    def enqueue(self, experiment: str, *, attempts: int = 0) -> None:
        """Add an experiment at the end; do nothing if it is there. `attempts` is how often it was begun before."""
        if experiment in self._entries:
            return
        entry = Entry(id=experiment, place=self._places, attempt=attempts)
        self._places += 1
        self._entries[experiment] = entry
        self._order[experiment] = None
        self._wait(entry)

    def confirm(self, experiment: str, device: str, *, attempts: int = 0) -> None:
        """Have a KEEP measured once more, on another device than `device`, under the name of `confirmation_of`."""
        name = confirmation_of(experiment)
        if name not in self._entries:
            self._entries[name] = Entry(id=name, place=-1, attempt=attempts, unlike=device)
            self._wait(self._entries[name])

    def begun_before(self, experiment: str, attempt: int, device: str, *, beside: str, again: bool = False) -> None:
        """An earlier head had begun `attempt` on `device`, which goes on with it if it is offered before another is free."""
        entry = self._entries[experiment]
        entry.attempt, entry.device, entry.beside, entry.again = attempt, device, beside, again
        self._begun[device] = experiment
        self._wait(entry)

    def judged_before(self, experiment: str, attempt: int, *, beside: str, keep: bool, needs_second: bool = False) -> None:
        """An earlier head had heard the verdict of `attempt`, and had not landed it."""
        entry = self._entries[experiment]
        entry.attempt = attempt
        self._conclude(entry, beside=beside, keep=keep, needs_second=needs_second)

    def offer(self, device: str) -> None:
        """A device is free."""
        if device not in self._runs:
            self._idle[device] = None

    def lose(self, device: str) -> str:
        """A device is gone or silent. Return the experiment that waits again because of that; "" for none."""
        self._idle.pop(device, None)
        experiment = self._runs.pop(device, "")
        if experiment:
            self._wait(self._entries[experiment])
        return experiment

    def judged(self, experiment: str, attempt: int, *, keep: bool, needs_second: bool = False) -> bool:
        """An attempt has a verdict. Return False if it is not the one that counts: then it is evidence, and nothing more. A
        KEEP that `needs_second` waits for a second device before it lands.
        """
        if not self.is_current(experiment, attempt):
            return False
        entry = self._entries[experiment]
        self._free(entry)
        self._conclude(entry, beside=entry.beside, keep=keep, needs_second=needs_second)
        return True

    def failed(self, experiment: str, attempt: int, *, retry: bool) -> bool:
        """An attempt ended without a verdict: it waits again if `retry`, else it is taken out, and with it the KEEP that waits
        for it. False if it doesn't count.
        """
        if not self.is_current(experiment, attempt):
            return False
        entry = self._entries[experiment]
        self._free(entry)
        if retry:
            self._wait(entry)
        else:
            self._forget(experiment)
            if entry.unlike:
                self._forget(experiment_of(experiment))
        return True

    def landed(self, experiment: str, kernel: str, *, retry: bool = False) -> None:
        """The record of an experiment is committed (or it needs none any more); `kernel` is the newest one after that. If that
        record says INVALID, and it may `retry`, it waits again where it stood.
        """
        self.kernel = kernel
        entry = self._entries[experiment]
        entry.again = False  # what it was beside an older kernel is forgotten with the record
        if retry:
            self._wait(entry)
        else:
            self._forget(experiment)
            check = self._entries.get(confirmation_of(experiment))
            if check is not None and check.state is State.JUDGED:
                self._others.append(check.id)

    def withdraw(self, experiment: str) -> None:
        """Take out an experiment that waits; do nothing if it is judged already or being judged."""
        entry = self._entries.get(experiment)
        if entry is not None and entry.state is State.WAITS:
            self._forget_begun(entry)
            self._checks.pop(experiment, None)
            self._forget(experiment)

    # ------------------------------------------------------------------ what to do

    def is_current(self, experiment: str, attempt: int) -> bool:
        """Is this the attempt of `experiment` that runs now?"""
        entry = self._entries.get(experiment)
        return entry is not None and entry.state is State.RUNS and entry.attempt == attempt

    def assign(self) -> Assignment | None:
        """Give a free device its next experiment; None if none is free or nothing waits."""
        for device, experiment in self._begun.items():
            if device in self._idle:
                return self._give(self._entries[experiment], device, resumes=True)
        first = self._first()
        if first is not None and confirmation_of(first.id) in self._checks:
            awaited = self._give_check([confirmation_of(first.id)])
            if awaited is not None:
                return awaited
        entry = self._next_waiting() if self._idle else None
        if entry is not None:
            return self._give(entry, next(iter(self._idle)), resumes=False)
        return self._give_check(self._checks)

    def lacks_another(self) -> int:
        """After `assign`: return how many confirmations wait for another device than those that are here, if nothing else can
        be done until one comes; else 0.
        """
        stuck = not self.next_landing() and not self._runs and not self.waits() and bool(self._idle)
        return len(self._checks) if stuck else 0

    def unconfirmed(self) -> str:
        """After `next_landing`: return the KEEP that would land, if it waits for a confirmation that was not begun; else ""."""
        first = self._first()
        if first is None or first.state is not State.JUDGED or not first.needs_second or first.answered:
            return ""
        return "" if confirmation_of(first.id) in self._entries else first.id

    def next_landing(self) -> str:
        """Return the experiment that lands next, "" if none can yet. A KEEP beside an older kernel waits to be judged again."""
        while self._others:
            entry = self._entries.get(self._others[0])
            if entry is not None and entry.state is State.JUDGED and not entry.keep:
                return entry.id
            self._others.popleft()
        first = self._first()
        if first is None or first.state is not State.JUDGED:
            return ""
        if first.beside == self.kernel:
            return first.id if first.answered or not first.needs_second else ""
        check = self._entries.get(confirmation_of(first.id))
        if (
            check is not None and check.state is not State.RUNS
        ):  # it is of the older kernel; one that runs is dropped at its end
            self._checks.pop(check.id, None)
            self._forget(check.id)
        first.again = True
        self._wait(first)
        return ""

    def next_together(self, most: int) -> tuple[str, ...]:
        """After `next_landing`: return that experiment and at most so many in all that can land with it, in order, because none
        of them is kept; () if it lands alone: a KEEP, or a confirmation.
        """
        found: dict[str, None] = {}
        for entry in (self._entries.get(name) for name in self._others):
            if len(found) == most or (entry is not None and entry.unlike):
                break
            if entry is not None and entry.state is State.JUDGED and not entry.keep:
                found[entry.id] = None
        return tuple(found)

    def is_pressed(self, *, unlocks: bool) -> bool:
        """Would anything wait for a landing of what is not kept? A free device, if that `unlocks` others; a KEEP before which
        all is judged; the end, if no device works.
        """
        if not self._runs or (unlocks and self._idle):
            return True
        entries = (self._entries[name] for name in self._order)
        first = next((entry for entry in entries if entry.state is not State.JUDGED or entry.keep), None)
        return first is not None and first.state is State.JUDGED

    def is_kept(self, experiment: str) -> bool:
        """Was the experiment judged a KEEP?"""
        return self._entries[experiment].keep

    def is_answered(self, experiment: str) -> bool:
        """Has a second device judged the KEEP too, beside the same kernel?"""
        return self._entries[experiment].answered

    def waits(self) -> bool:
        """Does anything wait for a device?"""
        return self._next_waiting() is not None

    # ------------------------------------------------------------------ inside

    def _give(self, entry: Entry, device: str, *, resumes: bool) -> Assignment:
        self._forget_begun(entry)
        self._checks.pop(entry.id, None)
        del self._idle[device]
        if not resumes:
            entry.attempt += 1
            entry.beside = self.kernel
        entry.state, entry.device = State.RUNS, device
        self._runs[device] = entry.id
        again, confirms = entry.again, entry.unlike
        return Assignment(id=entry.id, attempt=entry.attempt, device=device, again=again, resumes=resumes, confirms=confirms)

    def _give_check(self, names: Iterable[str]) -> Assignment | None:
        for entry in (self._entries[name] for name in names):
            device = next((each for each in self._idle if each != entry.unlike), "")
            if device:
                return self._give(entry, device, resumes=False)
        return None

    def _free(self, entry: Entry) -> None:
        del self._runs[entry.device]
        self._idle[entry.device] = None

    def _forget_begun(self, entry: Entry) -> None:
        if self._begun.get(entry.device) == entry.id:
            del self._begun[entry.device]

    def _wait(self, entry: Entry) -> None:
        entry.state = State.WAITS
        if entry.unlike:
            self._checks[entry.id] = None
            return
        heapq.heappush(self._waiting, (not entry.again, entry.place, entry.id))

    def _conclude(self, entry: Entry, *, beside: str, keep: bool, needs_second: bool) -> None:
        entry.state, entry.beside, entry.keep = State.JUDGED, beside, keep and not entry.unlike
        entry.needs_second, entry.answered = needs_second, False
        self._checks.pop(entry.id, None)
        waiting = self._entries.get(experiment_of(entry.id)) if entry.unlike else None
        if waiting is not None and waiting.state is State.JUDGED and waiting.beside == beside:
            waiting.answered = True  # it lands first, then this
        elif waiting is not None:
            self._forget(entry.id)  # of an older kernel: it confirms nothing any more
        elif not entry.keep:
            self._others.append(entry.id)

    def _next_waiting(self) -> Entry | None:
        while self._waiting:
            _, place, experiment = self._waiting[0]
            entry = self._entries.get(experiment)
            if entry is not None and entry.place == place and entry.state is State.WAITS:
                return entry
            heapq.heappop(self._waiting)
        return None

    def _first(self) -> Entry | None:
        return self._entries.get(next(iter(self._order), ""))

    def _forget(self, experiment: str) -> None:
        self._entries.pop(experiment, None)
        self._order.pop(experiment, None)
