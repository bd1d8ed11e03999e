"""Which processes are worth a look now: cheap enough to be asked twenty times a second while something is timed.

The kernel numbers processes and threads in turn and says the last number in /proc/loadavg, so whoever came since then is
known without a list of all. A newcomer is looked at a few times, for it may become another program; and everybody in
turn within two seconds, for an old shell may, too.
"""

import os
from pathlib import Path

from expctl.adapters.sensors.process_table import PROC, ProcessTable

AGES = frozenset({0, 1, 4, 16})  # in polls: when a newcomer is looked at
TURNS = 40  # polls in which everybody is looked at once
GAP_MOST = 50  # so many numbers are cheaper to try than all processes are to list


class Newcomers:
    """Asked again and again by one thread. The first answer is everybody."""

    def __init__(self, table: ProcessTable, root: Path = PROC) -> None:
        self._table, self._root = table, root
        self._counter = self._last = -1
        self._ages: dict[int, int] = {}
        self._known: set[int] = set()
        self._kernel: set[int] = set()
        self._turn: list[int] = []
        self._share = 1

    def fresh(self) -> list[int]:
        """Who came since the last answer, who did lately, and some of the others. Some numbers are threads, or gone again."""
        self._ages |= dict.fromkeys(self._arrivals(), 0)
        found = [pid for pid, age in self._ages.items() if age in AGES]
        self._ages = {pid: age + 1 for pid, age in self._ages.items() if age < max(AGES)}
        return found + self._next_in_turn()

    def close(self) -> None:
        """Give the descriptor back."""
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
        return list(self._everybody() - (self._known if before >= 0 else set()))

    def _last_number(self) -> int:
        """-1 where the kernel doesn't say."""
        try:
            if self._counter < 0:
                self._counter = os.open(self._root / "loadavg", os.O_RDONLY | os.O_CLOEXEC)
            return int(os.pread(self._counter, 128, 0).split()[-1])
        except (OSError, IndexError, ValueError):
            return -1

    def _next_in_turn(self) -> list[int]:
        if not self._turn:
            self._known = self._everybody()
            self._turn = list(self._known)
            self._share = len(self._turn) // TURNS + 1
        part, self._turn = self._turn[: self._share], self._turn[self._share :]
        return part

    def _everybody(self) -> set[int]:
        """All but threads of the kernel, which never become a program."""
        now = set(self._table.pids())
        self._kernel &= now
        self._kernel |= {pid for pid in now - self._known - self._kernel if self._table.is_kernel(pid)}
        return now - self._kernel
