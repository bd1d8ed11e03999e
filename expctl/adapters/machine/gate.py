"""The gate holds the machine's lock during builds, tests and measurements, and requires a quiet machine for a launch."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from expctl.adapters.machine.device_lock import MEASURING, WAITING, MachineLock
from expctl.adapters.machine.interference_watch import LaunchWatch
from expctl.adapters.machine.measuring_locks import MeasuringLocks
from expctl.adapters.sensors.busiest_processes import BusiestProcesses
from expctl.adapters.sensors.interface import Sensor
from expctl.adapters.sensors.new_processes import NewProcesses
from expctl.adapters.sensors.process_table import ProcessTable
from expctl.domain.errors import Busy
from expctl.domain.machine.interference import Foreign
from expctl.domain.machine.waiting import Load, Wait, busiest_texts, way_out
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
    of processes. While it waits, it calls `told` about ten times a second, which may raise to end the wait. `locks` are those
    that keep other runs out; without them it is the machine's `lock` alone.
    """

    def __init__(
        self,
        rule: Gate,
        *,
        lock: MachineLock | MeasuringLocks,
        table: ProcessTable,
        sensors: Sequence[Sensor],
        told: Callable[[Wait], None] = lambda _: None,
    ) -> None:
        self._rule, self._sensors, self._told = rule, tuple(sensors), told
        self._locks = lock if isinstance(lock, MeasuringLocks) else MeasuringLocks(lock, table)
        self._busiest = BusiestProcesses(table)
        self._target: Target | None = None
        self._locks.wait_by(self._tell_of_lock)
        self._new_processes = NewProcesses(table)
        self.watch = LaunchWatch(self._new_processes, lambda: self._wait_until_quiet(rule.wait_s))

    @contextlib.contextmanager
    def working(self, target: Target | None = None) -> Iterator[None]:
        """Hold the machine's lock, shared with other builds and tests, and for a test of `target` that of its card. Raises Busy
        if a measurement holds it for longer than `rule.wait_s` seconds.
        """
        with self._locks.working(target, wait_s=self._rule.wait_s):
            yield

    @contextlib.contextmanager
    def measuring(self, target: Target) -> Iterator[float]:
        """Hold the lock of what is measured exclusively, once no other program disturbs; yield the seconds waited for that.
        Raises Busy after `rule.wait_s` seconds.
        """
        started = time.monotonic()
        with self._locks.alone(target, wait_s=self._rule.wait_s) as lock, contextlib.ExitStack() as sessions:
            lock.show(WAITING)
            self._target, self.watch.sensors = target, self._asked(target)
            sessions.callback(self._stop_watching)
            for sensor in self.watch.sensors:
                sessions.enter_context(sensor.session())
            self._wait_until_quiet(max(0.0, started + self._rule.wait_s - time.monotonic()))
            lock.show(MEASURING)
            yield time.monotonic() - started

    def check(self, target: Target | None = None) -> str:
        """Return the name of the card that `target` keeps ("": none). Raises Refused if the file of a lock can't be used, or
        `target` has no card of its own where it needs one.
        """
        return self._locks.check(target)

    def beside(self, target: Target | None) -> tuple[Foreign, ...]:
        """Return the runs on other cards, which don't keep `target` from being measured."""
        return self._locks.beside(target)

    def core(self) -> int:
        """Return the core that a pinned worker runs on."""
        return self._locks.core()

    def wait_until_quiet(self, target: Target) -> float:
        """Wait until nothing has blocked for `rule.quiet_s` s; return the seconds waited. Raises Busy after `rule.wait_s`."""
        self.check()
        self._target = target
        return self._wait_until_quiet(self._rule.wait_s)

    def blocking(self, target: Target | None) -> tuple[Foreign, ...]:
        """Return the programs and conditions that keep `target` (None: any) from being measured now, lock holders included.
        That is what `gate` and `status` print and what a run waits for. Takes no lock.
        """
        return self.look(target)()

    def look(self, target: Target | None, *, quick: bool = False) -> Callable[[], tuple[Foreign, ...]]:
        """Begin to look at what blocks `target`; the function that is returned says it, as `blocking` does. It waits until
        those sensors that compare two moments can tell. If `quick`, no sensor is asked that starts a tool.
        """
        window_s = self._window_s(target)
        if window_s:
            self._foreign(target, quick=quick)
            self._busiest.look()
        looked_s = time.monotonic()  # after each sensor's first moment, so that none is asked too early

        def blocking() -> tuple[Foreign, ...]:
            if window_s:
                time.sleep(max(0.0, looked_s + window_s - time.monotonic()))
            return self._blocking_now(target, quick=quick)

        return blocking

    def slow_sensors(self, target: Target | None) -> tuple[str, ...]:
        """Return the names of the sensors that a quick look leaves out, although they are here and serve `target`."""
        return tuple(each.name for each in self._asked(target) if each.is_slow and not each.why_absent())

    def busiest(self) -> tuple[Load, ...]:
        """Return the processes of others that take the most CPU time, at most three; () if nothing compared them yet."""
        return self._busiest.look()

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
        window_s = self._window_s(self._target)
        # a sensor that has not looked twice is blind
        wanted_s = max(self._rule.quiet_s, window_s + POLL_S if window_s else 0.0)
        while True:
            foreign = self._blocking_now(self._target)
            now, busiest = time.monotonic(), self._busiest.look()
            if foreign:
                quiet_since = None
            elif quiet_since is None:
                quiet_since = now
            if quiet_since is not None and now - quiet_since >= wanted_s:
                return now - started
            if foreign and now > started + wait_s:
                raise self._busy(foreign)
            self._told(
                Wait(
                    what="a quiet machine",
                    waited_s=now - started,
                    at_most_s=wait_s,
                    foreign=foreign,
                    busiest=busiest,
                    quiet_s=now - quiet_since if quiet_since is not None else 0.0,
                    wanted_s=wanted_s,
                )
            )
            time.sleep(POLL_S)

    def _busy(self, foreign: Sequence[Foreign]) -> Busy:
        loads = busiest_texts(self._busiest.look())[:1] if any(each.sensor == "cpu" for each in foreign) else ()
        wait = "let that work finish, or wait longer (--wait SECONDS); `expctl gate` shows what blocks"
        return Busy(
            "the machine is not quiet",
            code="machine-not-quiet",
            expected=f"{self._rule.quiet_s:g} s without work of other programs",
            found="\n".join([*(sentence(each) for each in foreign), *(f"busiest: {each}" for each in loads)]),
            hint="; ".join(filter(None, (wait, way_out(foreign)))),
        )

    def _tell_of_lock(self, what: str, waited_s: float, others: tuple[Foreign, ...]) -> None:
        self._told(Wait(what=what, waited_s=waited_s, at_most_s=self._rule.wait_s, foreign=others))

    def _blocking_now(self, target: Target | None, *, quick: bool = False) -> tuple[Foreign, ...]:
        """Return what keeps `target` from being measured: others that hold the lock, and what the sensors see."""
        return (*self._locks.blocking(target), *self._foreign(target, quick=quick))

    def _foreign(self, target: Target | None, *, quick: bool = False) -> tuple[Foreign, ...]:
        asked = (sensor for sensor in self._asked(target) if not (quick and sensor.is_slow))
        return tuple(found for sensor in asked for found in sensor.blocking())

    def _window_s(self, target: Target | None) -> float:
        """Return the seconds that must lie between two moments that a sensor compares; 0 if none of those asked does."""
        return max((sensor.window_s for sensor in self._asked(target)), default=0.0)

    def _asked(self, target: Target | None) -> tuple[Sensor, ...]:
        return tuple(sensor for sensor in self._sensors if not sensor.why_unused(target))

    def _stop_watching(self) -> None:
        self.watch.sensors = ()
        self._new_processes.close()


def sentence(foreign: Foreign) -> str:
    """Return in words what disturbs, e.g. `ncu matches ncu: ncu (pid 12, user alice), since 2026-03-01T10:00:00Z`."""
    told = ", ".join(part for part in (foreign.detail, foreign.who) if part)
    return f"{foreign.what}{f': {told}' if told else ''}{f', since {foreign.since}' if foreign.since else ''}"
