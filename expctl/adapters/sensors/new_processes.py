"""Select the processes to check now, cheaply enough for twenty calls a second while something is timed.

The kernel numbers processes and threads in sequence and shows the last number in /proc/loadavg, so new ones are known without
listing all. A new process is selected several times, because it may replace its program by exec; so may an old shell, so all
other processes are selected in turn within two seconds.
"""

import os
from pathlib import Path

from expctl.adapters.sensors.process_table import PROC, ProcessTable

AGES = frozenset({0, 1, 4, 16})  # ages of a new process, in polls, at which it is selected
TURNS = 40  # polls in which every process is selected once
GAP_MOST = 50  # trying so many numbers is cheaper than listing all processes


class NewProcesses:
    """Selects the processes to check; one thread calls `fresh` repeatedly. The first call selects all processes."""

    def __init__(self, table: ProcessTable, root: Path = PROC) -> None:
        self._table, self._root = table, root
        self._counter = self._last = -1
        self._ages: dict[int, int] = {}
        self._known: set[int] = set()
        self._kernel: set[int] = set()
        self._turn: list[int] = []
        self._share = 1

    def fresh(self) -> list[int]:
        """Return the pids to check: each new process at once and again 1, 4 and 16 calls later, and 1/40 of all others in turn.
        Some of them may have ended.
        """
        self._ages |= dict.fromkeys(self._arrivals(), 0)
        found = [pid for pid, age in self._ages.items() if age in AGES]
        self._ages = {pid: age + 1 for pid, age in self._ages.items() if age < max(AGES)}
        return found + self._next_in_turn()

    def close(self) -> None:
        """Close the descriptor of /proc/loadavg."""
        if self._counter >= 0:
            os.close(self._counter)
            self._counter = -1

    def _arrivals(self) -> list[int]:
        last = self._last_number()
        before, self._last = self._last, last
        if last >= 0 and last == before:
            return []
        if before >= 0 and 0 < last - before <= GAP_MOST:
            return list(range(before + 1, last + 1))
        return list(self._candidates() - (self._known if before >= 0 else set()))

    def _last_number(self) -> int:
        try:
            if self._counter < 0:
                self._counter = os.open(self._root / "loadavg", os.O_RDONLY | os.O_CLOEXEC)
            return int(os.pread(self._counter, 128, 0).split()[-1])
        except (OSError, IndexError, ValueError):
            return -1

    def _next_in_turn(self) -> list[int]:
        if not self._turn:
            self._known = self._candidates()
            self._turn = list(self._known)
            self._share = len(self._turn) // TURNS + 1
        part, self._turn = self._turn[: self._share], self._turn[self._share :]
        return part

    def _candidates(self) -> set[int]:
        now = set(self._table.pids())
        self._kernel &= now
        self._kernel |= {pid for pid in now - self._known - self._kernel if self._table.is_kernel(pid)}
        return now - self._kernel
