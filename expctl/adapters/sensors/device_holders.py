"""Sensor of processes that hold a GPU: those, not ours, that have /dev/kfd or the device file of an NVIDIA card open.

During a launch the AMD driver's list of processes in sysfs is read, which covers all users. Where that list is missing, the
open files of processes are read: before a launch those of all processes, during it those of new processes and, in turn, of some
others.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import translate
from pathlib import Path

from expctl.adapters.sensors.interface import EACH_TIME, Launch, Sensor, uses_gpu
from expctl.adapters.sensors.process_patterns import Strangers
from expctl.adapters.sensors.process_table import ProcessTable
from expctl.domain.machine.interference import Foreign
from expctl.domain.protocol.model import Target
from expctl.domain.text import one_line

CARD = re.compile(r"kfd|nvidia\d+")
KFD_PROCESSES = "class/kfd/kfd/proc"
OUTERMOST = "pid:[4026531836]"  # the first pid namespace (linux/proc_ns.h: PROC_PID_INIT_INO); the driver counts in it


class DeviceHolders(Sensor):
    """Finds processes that aren't ours and hold a GPU; those whose name matches a pattern in `idle` are ignored. `strangers`
    leaves out of a finding whoever doesn't count as foreign either.
    """

    name = "device"
    every_s = EACH_TIME

    def __init__(
        self,
        table: ProcessTable,
        *,
        idle: Sequence[str] = (),
        sys: Path = Path("/sys"),
        dev: Path = Path("/dev"),
        strangers: Strangers = tuple,
    ) -> None:
        self._table, self._sys, self._dev, self._strangers = table, sys, dev, strangers
        self._idle = re.compile("|".join(translate(pattern) for pattern in idle) or r"(?!)")
        self._hidden = 0
        self._innocent: set[int] = set()

    def why_absent(self) -> str:
        """Return that there is no card, or that open files of other users' processes can't be seen; empty if neither is so."""
        if not self._cards():
            return "no /dev/kfd and no /dev/nvidia*"
        return f"the descriptors of {self._hidden} processes of other users can't be looked into" if self._hidden else ""

    def says(self) -> str:
        """Return in words which cards' holders are looked for; who was found, `blocking` says."""
        return f"looked who holds {', '.join(sorted(self._cards()))}"

    def why_unused(self, target: Target | None) -> str:
        """Return in words that `target` isn't timed on a GPU; empty if it is, so that the sensor is used."""
        return "" if uses_gpu(target) else "no GPU is timed"

    def blocking(self) -> tuple[Foreign, ...]:
        """Return every process that isn't ours and has a GPU's device file open."""
        self._hidden, cards = 0, self._cards()
        return self._strangers(self._foreign(self._table.pids(), cards)) if cards else ()

    def start(self, launch: Launch) -> None:  # noqa: ARG002  a holder disturbs whoever is measured
        """Forget which pids were found not to hold a GPU, or to be ours, because the kernel gives pids to other processes."""
        self._innocent.clear()

    def look(self, fresh: Sequence[int]) -> tuple[Foreign, ...]:
        """Return processes that aren't ours and hold a GPU. They come from the AMD driver's list or, without it, from the pids
        `fresh`.
        """
        listed = self._listed()
        if listed is not None:
            return self._strangers(self._sighting(pid, str(self._dev / "kfd")) for pid in listed if self._is_foreign(pid))
        cards = self._cards()
        return self._strangers(self._foreign(fresh, cards)) if cards else ()

    def _cards(self) -> set[str]:
        try:
            return {str(self._dev / name) for name in os.listdir(self._dev) if CARD.fullmatch(name)}
        except OSError:
            return set()

    def _listed(self) -> list[int] | None:
        try:
            names = os.listdir(self._sys / KFD_PROCESSES)
            if os.readlink("/proc/self/ns/pid") != OUTERMOST:
                return None
        except OSError:
            return None
        return [int(name) for name in names if name.isdigit()]

    def _foreign(self, pids: Iterable[int], cards: set[str]) -> Iterator[Foreign]:
        for pid in pids:
            links = self._table.links(pid)
            self._hidden += links is None
            held = sorted(cards.intersection(links or ()))
            if held and self._is_foreign(pid):
                yield self._sighting(pid, held[0])

    def _is_foreign(self, pid: int) -> bool:
        if pid in self._innocent:
            return False
        process = self._table.process(pid)
        if process is None or self._idle.match(process.name) or self._table.is_ours(pid):
            self._innocent.add(pid)
            return False
        return True

    def _sighting(self, pid: int, card: str) -> Foreign:
        process = self._table.process(pid)
        name = one_line(process.name, 40) if process else "a process"
        what, since = f"{name} holds {Path(card).name}", self._table.since(pid)
        return Foreign(sensor=self.name, what=what, pid=pid, who=self._table.who(pid), since=since)
