"""A look for foreign work while something is timed: a thread of the parent that taints what it sees disturbed.

It works little: a poll costs some tens of microseconds, its pauses grow with what it costs, so that it never takes more
than half a percent of a core, and it stays off the core that is timed. It lives between two forks only, for a child that is
forked beside a thread may inherit a lock that nobody will ever release.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from expctl.adapters.sensors.interface import Launch, Sensor
from expctl.adapters.sensors.new_processes import Newcomers
from expctl.domain.machine.interference import Foreign

POLL_S = 0.05
SHARE_MOST = 0.005  # of a core
PATIENCE_S = 2.0  # for the look that is under way when the launch ends


class Watch(Protocol):
    """What the measuring side needs of it."""

    def clear(self) -> None:
        """Return when nothing foreign is there. Raises Busy after the protocol's wait."""

    def looking(self, side: str, *, timed: bool = True, core: int | None = None) -> contextlib.AbstractContextManager[None]:
        """Look while this is entered; start no process in it."""

    def taken(self) -> tuple[str, ...]:
        """What was seen since the last call, as taints."""


class Unwatched:
    """Sees nothing: for whoever measures without a gate."""

    def clear(self) -> None:
        """Always."""

    def looking(self, side: str, *, timed: bool = True, core: int | None = None) -> contextlib.AbstractContextManager[None]:  # noqa: ARG002
        """Nobody looks."""
        return contextlib.nullcontext()

    def taken(self) -> tuple[str, ...]:
        """Nothing."""
        return ()


class LaunchWatch:
    """Polls `sensors`, those of the target that is measured. `wait` returns when the machine is quiet, or raises Busy."""

    def __init__(self, newcomers: Newcomers, wait: Callable[[], object], *, patience_s: float = PATIENCE_S) -> None:
        self.sensors: Sequence[Sensor] = ()
        self.looked_s = self.spent_s = 0.0
        self._newcomers, self._wait, self._patience_s = newcomers, wait, patience_s
        self._seen: dict[str, Foreign] = {}
        self._is_disturbed = False

    def clear(self) -> None:
        """Cheap where nobody came since the last look; after a taint the whole gate is asked."""
        fresh = self._newcomers.fresh()
        if self._is_disturbed or any(sensor.look(fresh) for sensor in self.sensors if not sensor.every_s):
            self._wait()
        self._is_disturbed = False

    @contextlib.contextmanager
    def looking(self, side: str, *, timed: bool = True, core: int | None = None) -> Iterator[None]:
        """Taints add up until they are taken, also when what runs inside fails."""
        sensors = tuple(self.sensors)
        for sensor in sensors:
            sensor.start(Launch(side=side, timed=timed, core=core))
        thread = _Thread(sensors, self._newcomers, core)
        started_s = time.monotonic()
        thread.start()
        try:
            yield
        finally:
            self._note(thread.end(self._patience_s))
            self.looked_s += time.monotonic() - started_s
            self.spent_s += thread.spent_s
            for sensor in sensors:
                self._note(sensor.stop())

    def taken(self) -> tuple[str, ...]:
        """Sorted, each once."""
        taints = tuple(sorted(self._seen))
        self._seen.clear()
        self._is_disturbed = self._is_disturbed or bool(taints)
        return taints

    def _note(self, found: Sequence[Foreign]) -> None:
        for each in found:
            self._seen.setdefault(each.what, each)


class _Thread(threading.Thread):
    """One launch's looks. What it saw is given when it ends."""

    def __init__(self, sensors: Sequence[Sensor], newcomers: Newcomers, core: int | None) -> None:
        super().__init__(name="watch", daemon=True)
        self.spent_s = 0.0
        self._sensors, self._newcomers, self._core = sensors, newcomers, core
        self._due_s = [0.0 if sensor.every_s != float("inf") else float("inf") for sensor in sensors]
        self._over = threading.Event()
        self._found: list[Foreign] = []
        self._asked = "nobody"
        self._error: BaseException | None = None

    def run(self) -> None:
        """Look, pause, look."""
        try:
            self._step_aside()
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
        """What it saw. `patience_s` is how long it waits for the look that is under way: a sensor that doesn't come back is
        itself a reason to distrust the launch.
        """
        self._over.set()
        self.join(patience_s)
        if self._error is not None:
            raise self._error
        if self.is_alive():
            return (*self._found, Foreign(sensor="watch", what=f"the sensor {self._asked} does not come back"))
        return self._found

    def _look(self) -> None:
        now_s, fresh = time.monotonic(), self._newcomers.fresh()
        for number, sensor in enumerate(self._sensors):
            if self._due_s[number] <= now_s:
                self._asked = sensor.name
                self._found += sensor.look(fresh)
                self._due_s[number] = now_s + sensor.every_s

    def _step_aside(self) -> None:
        """Leave the core that is timed to it, where there is another."""
        others = os.sched_getaffinity(0) - {self._core}
        if others:
            os.sched_setaffinity(0, others)
