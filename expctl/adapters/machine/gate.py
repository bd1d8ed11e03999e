"""The gate holds the machine's lock during builds, tests and measurements, and requires a quiet machine for a launch."""

import contextlib
import time
from collections.abc import Iterator, Sequence

from msgspec import Struct

from expctl.adapters.machine.device_lock import MachineLock
from expctl.adapters.machine.interference_watch import LaunchWatch
from expctl.adapters.sensors.interface import Sensor
from expctl.adapters.sensors.new_processes import NewProcesses
from expctl.adapters.sensors.process_table import ProcessTable
from expctl.domain.errors import Busy, Refused
from expctl.domain.machine.interference import Foreign
from expctl.domain.protocol.model import Gate, Target

POLL_S = 0.1


class Seen(Struct, frozen=True, kw_only=True):
    """What one sensor reports: its observation (`says`), why it can't observe (`absent`) or why it isn't used (`unused`)."""

    sensor: str
    says: str = ""
    absent: str = ""
    unused: str = ""


class MachineGate:
    """Keeps other programs out of the timings of one run. `rule` has the waiting times of the protocol, `table` reads the list
    of processes.
    """

    def __init__(self, rule: Gate, *, lock: MachineLock, table: ProcessTable, sensors: Sequence[Sensor]) -> None:
        self._rule, self._lock, self._table, self._sensors = rule, lock, table, tuple(sensors)
        self._target: Target | None = None
        self._new_processes = NewProcesses(table)
        self.watch = LaunchWatch(self._new_processes, lambda: self._wait_until_quiet(rule.wait_s))

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Hold the machine's lock, shared with other builds and tests. Raises Busy if a measurement holds it for longer than
        `rule.wait_s` seconds.
        """
        with self._lock.shared(wait_s=self._rule.wait_s):
            yield

    @contextlib.contextmanager
    def measuring(self, target: Target) -> Iterator[float]:
        """Hold the machine's lock exclusively, once no other program disturbs; yield the seconds waited for that. Raises Busy
        after `rule.wait_s` seconds.
        """
        started = time.monotonic()
        with self._lock.alone(wait_s=self._rule.wait_s), contextlib.ExitStack() as sessions:
            self._target, self.watch.sensors = target, self._asked(target)
            sessions.callback(self._stop_watching)
            for sensor in self.watch.sensors:
                sessions.enter_context(sensor.session())
            self._wait_until_quiet(max(0.0, started + self._rule.wait_s - time.monotonic()))
            yield time.monotonic() - started

    def check(self) -> None:
        """Raise Refused if the file of the machine's lock can't be used."""
        self._lock.check()

    def blocking(self, target: Target | None) -> tuple[Foreign, ...]:
        """Return the programs and conditions that keep `target` (None: any) from being measured now, lock holders included.
        Takes no lock. Raises Refused if the lock file can't be opened.
        """
        self._lock.look()
        window_s = max((sensor.window_s for sensor in self._asked(target)), default=0.0)
        if window_s:  # a sensor that compares two moments
            self._foreign(target)
            time.sleep(window_s + POLL_S)
        return (*held(self._lock, self._table), *self._foreign(target))

    def seen(self, target: Target | None) -> tuple[Seen, ...]:
        """Return for each sensor what it saw in the last call of `blocking`, or why it can't see or isn't used for `target`."""
        return tuple(
            Seen(sensor=each.name, unused=unused)
            if (unused := each.why_unused(target))
            else Seen(sensor=each.name, absent=absent)
            if (absent := each.why_absent())
            else Seen(sensor=each.name, says=each.says())
            for each in self._sensors
        )

    def _wait_until_quiet(self, wait_s: float) -> float:
        started = time.monotonic()
        quiet_since: float | None = None
        while True:
            foreign = self._foreign(self._target)
            now = time.monotonic()
            if foreign:
                quiet_since = None
            elif quiet_since is None:
                quiet_since = now
            if quiet_since is not None and now - quiet_since >= self._rule.quiet_s:
                return now - started
            if foreign and now > started + wait_s:
                raise Busy(
                    "the machine is not quiet",
                    code="machine-not-quiet",
                    expected=f"{self._rule.quiet_s:g} s without work of other programs",
                    found="\n".join(sentence(each) for each in foreign),
                    hint="let that work finish, then run the same command again; `expctl gate` shows what blocks",
                )
            time.sleep(POLL_S)

    def _foreign(self, target: Target | None) -> tuple[Foreign, ...]:
        return tuple(found for sensor in self._asked(target) for found in sensor.blocking())

    def _asked(self, target: Target | None) -> tuple[Sensor, ...]:
        return tuple(sensor for sensor in self._sensors if not sensor.why_unused(target))

    def _stop_watching(self) -> None:
        self.watch.sensors = ()
        self._new_processes.close()


def held(lock: MachineLock, table: ProcessTable) -> tuple[Foreign, ...]:
    """Return the processes that hold the machine's lock, and since when. If the lock can't be opened, return one entry that
    says why.
    """
    try:
        lock.look()
    except Refused as refusal:
        return (Foreign(sensor="lock", what=refusal.message, detail=f"{refusal.where}: {refusal.found}"),)
    found = []
    for holder in lock.holders():
        facts = holder.facts
        what = "expctl is measuring" if holder.is_alone else "expctl builds or tests"
        doing = f"{facts.experiment}, step {facts.step}" if facts and facts.experiment else ""
        since = facts.since if facts else table.since(holder.pid)
        who = table.who(holder.pid)
        found.append(Foreign(sensor="lock", what=what, detail=doing, pid=holder.pid, who=who, since=since))
    return tuple(found)


def sentence(foreign: Foreign) -> str:
    """Return in words what disturbs, e.g. `ncu matches ncu: ncu (pid 12, user alice), since 2026-03-01T10:00:00Z`."""
    told = ", ".join(part for part in (foreign.detail, foreign.who) if part)
    return f"{foreign.what}{f': {told}' if told else ''}{f', since {foreign.since}' if foreign.since else ''}"
