"""Which processes are worth a look now: cheap enough to be asked twenty times a second while something is timed.

The kernel numbers processes in turn, so an unchanged last number in /proc/loadavg means that nobody came. Whoever came
is looked at again a few times, for it may become another program; and everybody once a second, for an old shell may, too.
"""

import os
from pathlib import Path

from expctl.adapters.sensors.process_table import PROC, ProcessTable

AGES = frozenset({0, 1, 2, 4, 8, 16, 32})  # in polls: when a newcomer is looked at
TURNS = 20  # polls in which everybody is looked at once


class Newcomers:
    """Asked again and again by one thread. The first answer is everybody."""

    def __init__(self, table: ProcessTable, root: Path = PROC) -> None:
        self._table, self._root = table, root
        self._counter = -1
        self._last = b""
        self._known: set[int] = set()
        self._kernel: set[int] = set()
        self._ages: dict[int, int] = {}
        self._turn: list[int] = []

    def fresh(self) -> list[int]:
        """New processes since the last answer, young ones now and then, and some of the others in turn."""
        if self._someone_came():
            now = set(self._table.pids()) - self._kernel
            came = {pid for pid in now - self._known if not self._is_kernel(pid)}
            now -= self._kernel
            self._known = now
            self._ages = {pid: age for pid, age in self._ages.items() if pid in now} | dict.fromkeys(came, 0)
            if not self._turn:
                self._turn = list(now - came)
        found = [pid for pid, age in self._ages.items() if age in AGES]
        self._ages = {pid: age + 1 for pid, age in self._ages.items() if age < max(AGES)}
        return found + self._next_in_turn()

    def close(self) -> None:
        """Give the descriptor back."""
        if self._counter >= 0:
            os.close(self._counter)
            self._counter = -1

    def _someone_came(self) -> bool:
        try:
            if self._counter < 0:
                self._counter = os.open(self._root / "loadavg", os.O_RDONLY | os.O_CLOEXEC)
            last = os.pread(self._counter, 128, 0).split()[-1]
        except (OSError, IndexError):
            return True
        changed, self._last = last != self._last, last
        return changed

    def _is_kernel(self, pid: int) -> bool:
        if not self._table.is_kernel(pid):
            return False
        self._kernel.add(pid)
        return True

    def _next_in_turn(self) -> list[int]:
        if not self._turn:
            self._turn = [pid for pid in self._known if pid not in self._ages]
        count = len(self._known) // TURNS + 1
        part, self._turn = self._turn[:count], self._turn[count:]
        return part
