"""Name the processes of others that take the most CPU time, for whoever waits for a quiet machine."""

import os
import re
import time
from collections.abc import Callable, Sequence

from expctl.adapters.sensors.process_table import ProcessTable
from expctl.domain.machine.waiting import Load
from expctl.domain.text import one_line

INTERPRETER = re.compile(r"python|node|ruby|perl|java|bash|sh$")
MOST = 3
EVERY_S = 1.0
FIRST_S = 0.2  # until the first answer
PERCENT_LEAST = 1.0


class BusiestProcesses:
    """Compares the CPU times of all processes about once a second. Costs some tens of microseconds a process."""

    def __init__(self, table: ProcessTable, *, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._table, self._clock_s = table, clock_s
        self._tick_s = 1 / os.sysconf("SC_CLK_TCK")
        self._ticks: dict[int, int] = {}
        self._looked_s = 0.0
        self._found: tuple[Load, ...] = ()

    def look(self) -> tuple[Load, ...]:
        """Return at most three processes that aren't ours, the busiest first, by their CPU time between the last two looks
        that lay long enough apart. Returns nothing before the second of these.
        """
        now_s = self._clock_s()
        if self._ticks and now_s - self._looked_s < (EVERY_S if self._found else FIRST_S):
            return self._found
        ticks = {pid: each.cpu_ticks for pid in self._table.pids() if (each := self._table.process(pid)) is not None}
        if self._ticks:
            self._found = self._busiest(ticks, now_s - self._looked_s)
        self._ticks, self._looked_s = ticks, now_s
        return self._found

    def _busiest(self, ticks: dict[int, int], passed_s: float) -> tuple[Load, ...]:
        found: list[Load] = []
        used = {pid: 100 * self._tick_s * (now - self._ticks.get(pid, now)) / passed_s for pid, now in ticks.items()}
        for pid, percent in sorted(used.items(), key=lambda each: -each[1]):
            if percent < PERCENT_LEAST or len(found) == MOST:
                break
            process = self._table.process(pid)
            if process is not None and not self._table.is_ours(pid):
                found.append(
                    Load(
                        name=_title(process.name, self._table.words(pid)), pid=pid, user=self._table.user(pid), percent=percent
                    )
                )
        return tuple(found)


def _title(name: str, words: Sequence[str]) -> str:
    """Return a process' name, for an interpreter with what it runs: `python train.py`, `python pytest` for python -m pytest."""
    options = [word for word in words[1:3] if word.startswith("-")]
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    if not INTERPRETER.match(name) or "-c" in options or not script:
        return name
    return f"{name} {one_line(os.path.basename(script), 40)}"
