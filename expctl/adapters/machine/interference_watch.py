"""Watch for foreign work during a launch, in a thread of this process; what is seen taints the launch's samples.

A poll costs some tens of microseconds. The pauses grow with that cost, so that the thread never takes more than half a percent
of a core, and it stays off the core that is timed. The thread is ended before the next process is started, because a child that
is forked while a thread runs may inherit a lock that is never released.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from expctl.adapters.machine.signals import uninterrupted
from expctl.adapters.sensors.interface import Launch, Sensor
from expctl.adapters.sensors.new_processes import NewProcesses
from expctl.domain.machine.burn_in import DeviceReading
from expctl.domain.machine.interference import Foreign

POLL_S = 0.05
SHARE_MOST = 0.005  # of a core
PATIENCE_S = 2.0  # time for a poll under way when the launch ends


class Watch(Protocol):
    """Reports whether other programs disturbed a launch (one process that is timed)."""

    def clear(self) -> None:
        """Wait until no other program disturbs measurements. Raises Busy after `gate.wait_s` of the protocol."""

    def watching(self, side: str, *, timed: bool = True, core: int | None = None) -> contextlib.AbstractContextManager[None]:
        """Watch a process of `side` (baseline or candidate) during the block, which must not start one. `core` is the only core
        it runs on, None if it may run on any; `timed` says that its times are measured.
        """

    def take_taints(self) -> tuple[str, ...]:
        """Return in words the foreign work that was seen beside launches since the last call, and forget it."""

    def readings(self) -> tuple[DeviceReading, ...]:
        """Return the clocks and temperatures of devices seen since `watching` began."""


class Unwatched:
    """A watch that sees nothing, for measuring without a gate."""

    def clear(self) -> None:
        """Return at once, without waiting for a quiet machine."""

    def watching(self, side: str, *, timed: bool = True, core: int | None = None) -> contextlib.AbstractContextManager[None]:  # noqa: ARG002
        """Return a context that watches nothing."""
        return contextlib.nullcontext()

    def take_taints(self) -> tuple[str, ...]:
        """Return nothing: no foreign work is ever seen."""
        return ()

    def readings(self) -> tuple[DeviceReading, ...]:
        """Return nothing: no device is ever read."""
        return ()


class LaunchWatch:
    """Polls `sensors` during launches, in a thread. `wait` must return once the machine is quiet, or raise Busy."""

    def __init__(self, new_processes: NewProcesses, wait: Callable[[], object], *, patience_s: float = PATIENCE_S) -> None:
        self.sensors: Sequence[Sensor] = ()
        self.looked_s = self.spent_s = 0.0
        self._new_processes, self._wait, self._patience_s = new_processes, wait, patience_s
        self._seen: dict[str, Foreign] = {}
        self._is_disturbed = False

    def clear(self) -> None:
        """Wait for a quiet machine if the last launch was disturbed, or if a process started since then disturbs. Raises what
        `wait` raises.
        """
        fresh = self._new_processes.fresh()
        if self._is_disturbed or any(sensor.look(fresh) for sensor in self.sensors if not sensor.every_s):
            self._wait()
        self._is_disturbed = False

    @contextlib.contextmanager
    def watching(self, side: str, *, timed: bool = True, core: int | None = None) -> Iterator[None]:
        """Watch the benchmark process of `side` in a thread during the block; `take_taints` returns what was seen."""
        sensors = tuple(self.sensors)
        for sensor in sensors:
            sensor.start(Launch(side=side, timed=timed, core=core))
        thread = _Thread(sensors, self._new_processes, core)
        started_s = time.monotonic()
        with uninterrupted():  # an abort within a lock of threading's would leave it held; and the thread takes no signals
            thread.start()
        try:
            yield
        finally:
            self._note(thread.end(self._patience_s))
            self.looked_s += time.monotonic() - started_s
            self.spent_s += thread.spent_s
            for sensor in sensors:
                self._note(sensor.stop())

    def take_taints(self) -> tuple[str, ...]:
        """Return in words the foreign work seen since the last call, sorted, without duplicates; after any, `clear` waits."""
        taints = tuple(sorted(self._seen))
        self._seen.clear()
        self._is_disturbed = self._is_disturbed or bool(taints)
        return taints

    def readings(self) -> tuple[DeviceReading, ...]:
        """Return the clocks and temperatures of devices that the sensors saw since `watching` began."""
        return tuple(reading for sensor in self.sensors for reading in sensor.readings())

    def _note(self, found: Sequence[Foreign]) -> None:
        for each in found:
            self._seen.setdefault(each.what, each)


class _Thread(threading.Thread):
    def __init__(self, sensors: Sequence[Sensor], new_processes: NewProcesses, core: int | None) -> None:
        super().__init__(name="watch", daemon=True)
        self.spent_s = 0.0
        self._sensors, self._new_processes, self._core = sensors, new_processes, core
        self._due_s = [0.0 if sensor.every_s != float("inf") else float("inf") for sensor in sensors]
        self._over = threading.Event()
        self._found: list[Foreign] = []
        self._asked = "nobody"
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._leave_timed_core()
            pause_s = 0.0
            while not self._over.wait(pause_s):
                begun_s = time.thread_time()
                self._look()
                spent_s = time.thread_time() - begun_s
                self.spent_s += spent_s
                pause_s = max(POLL_S, spent_s * (1 / SHARE_MOST - 1))
        except BaseException as error:  # noqa: BLE001  raised again where the launch ends
            self._error = error

    def end(self, patience_s: float) -> Sequence[Foreign]:
        """Stop the thread, waiting at most `patience_s` seconds; return the foreign work it saw. If the thread doesn't end,
        there is an entry for the sensor that hangs.
        """
        with uninterrupted():
            self._over.set()
        self.join(patience_s)
        if self._error is not None:
            raise self._error
        if self.is_alive():
            return (*self._found, Foreign(sensor="watch", what=f"the sensor {self._asked} does not come back"))
        return self._found

    def _look(self) -> None:
        now_s, fresh = time.monotonic(), self._new_processes.fresh()
        for number, sensor in enumerate(self._sensors):
            if self._due_s[number] <= now_s:
                self._asked = sensor.name
                self._found += sensor.look(fresh)
                self._due_s[number] = now_s + sensor.every_s

    def _leave_timed_core(self) -> None:
        others = os.sched_getaffinity(0) - {self._core}
        if others:
            os.sched_setaffinity(0, others)
