"""A machine that exists as files only: processes, sensors and their watch."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from expctl.domain.errors import Busy
from expctl.domain.machine.burn_in import DeviceReading
from expctl.domain.machine.interference import Foreign
from expctl.domain.protocol.model import Target


@dataclass
class FakeProc:
    """A /proc in a folder: processes with as much as the gate reads of them."""

    root: Path
    last: int = 0

    def add(
        self,
        pid: int,
        *argv: str,
        name: str = "",
        parent: int = 1,
        state: str = "S",
        mark: str = "",
        links: Sequence[str] = (),
        below: Sequence[int] = (),
        waited: tuple[int, int] = (0, 0),
    ) -> None:
        """A new process, or another program in its place. `waited` is its schedstat: ns that it ran, ns that it waited."""
        folder = self.root / str(pid)
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "fd").mkdir(parents=True)
        (folder / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in argv))
        name = name or (argv[0].rpartition("/")[2] if argv else "kthread")[:15]
        fields = [state, str(parent), *(["0"] * 17), str(100 * pid), "0"]
        (folder / "stat").write_text(f"{pid} ({name}) {' '.join(fields)}\n")
        (folder / "environ").write_bytes(f"A=1\0EXPCTL_RUN={mark}\0".encode() if mark else b"A=1\0")
        for number, link in enumerate(links):
            (folder / "fd" / str(number)).symlink_to(link)
        task = folder / "task" / str(pid)
        task.mkdir(parents=True)
        (task / "children").write_text(" ".join(map(str, below)))
        (task / "schedstat").write_text(f"{waited[0]} {waited[1]} 7\n")
        self.last = max(self.last, pid)
        self.count(self.last)

    def count(self, last: int) -> None:
        """Say that `last` is the newest number."""
        (self.root / "loadavg").write_text(f"0.10 0.20 0.30 1/99 {last}\n")

    def remove(self, pid: int) -> None:
        """It is gone."""
        shutil.rmtree(self.root / str(pid))

    def ticks(self, *cores: tuple[int, int, int]) -> None:
        """/proc/stat: for each core the ticks that it was busy, idle, and kept by the host."""
        rows = [f"cpu{core} {busy} 0 0 {idle} 0 0 0 {stolen} 0 0" for core, (busy, idle, stolen) in enumerate(cores)]
        (self.root / "stat").write_text("\n".join(["cpu  1 2 3 4 5 6 7 8 0 0", *rows, "intr 1"]) + "\n")


@dataclass
class FakeSensor:
    """Sees what the test tells it, and keeps what it is asked."""

    name: str = "fake"
    every_s: float = 0.0
    window_s: float = 0.0
    is_slow: bool = False
    blocks: list[tuple[Foreign, ...]] = field(default_factory=list)
    sees: list[tuple[Foreign, ...]] = field(default_factory=list)
    judges: list[tuple[Foreign, ...]] = field(default_factory=list)
    missing: str = ""
    not_asked: str = ""
    launches: list[object] = field(default_factory=list)
    looks: int = 0
    sessions: int = 0
    during: Callable[[], object] = lambda: None
    reads: tuple[DeviceReading, ...] = ()

    def why_absent(self) -> str:
        return self.missing

    def says(self) -> str:
        return "all is well"

    def why_unused(self, target: Target | None) -> str:
        assert target is None or target.build
        return self.not_asked

    @contextmanager
    def session(self) -> Iterator[None]:
        self.sessions += 1
        yield
        self.sessions -= 1

    def blocking(self) -> tuple[Foreign, ...]:
        return self.blocks.pop(0) if self.blocks else ()

    def start(self, launch: object) -> None:
        self.launches.append(launch)

    def look(self, fresh: Sequence[int]) -> tuple[Foreign, ...]:
        assert len(set(fresh)) <= len(fresh)
        self.looks += 1
        self.during()
        return self.sees.pop(0) if self.sees else ()

    def stop(self) -> tuple[Foreign, ...]:
        return self.judges.pop(0) if self.judges else ()

    def readings(self) -> tuple[DeviceReading, ...]:
        return self.reads


@dataclass
class FakeWatch:
    """Taints launches in turn; `busy` makes it lose patience before the next."""

    taints: list[tuple[str, ...]] = field(default_factory=list)
    looked: list[tuple[str, bool, int | None]] = field(default_factory=list)
    cleared: int = 0
    busy: bool = False
    reads: Callable[[], tuple[DeviceReading, ...]] = tuple

    def clear(self) -> None:
        if self.busy:
            raise Busy("the machine is not quiet", code="machine-not-quiet")
        self.cleared += 1

    @contextmanager
    def watching(self, side: str, *, timed: bool = True, core: int | None = None) -> Iterator[None]:
        self.looked.append((side, timed, core))
        yield

    def take_taints(self) -> tuple[str, ...]:
        return self.taints.pop(0) if self.taints else ()

    def readings(self) -> tuple[DeviceReading, ...]:
        return self.reads()
