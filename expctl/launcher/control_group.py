"""A control group (version 2) for each child, where the kernel lets us make one: everything in it can be ended in one stroke.

Nothing leaves it, whatever it forks, however it hides. Where we can't make one, the subreaper has to do.
"""

import contextlib
import functools
import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path

from expctl.launcher.process import POLL_S, identity_of

PREFIX = "expctl"

_numbers = itertools.count()


class ControlGroup:
    """One folder of the hierarchy, with an open door for the child."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._door = os.open(folder / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)

    def join(self) -> None:
        """For a process that is about to exec."""
        os.write(self._door, b"0")

    def close_door(self) -> None:
        """The child is in."""
        if self._door >= 0:
            os.close(self._door)
            self._door = -1

    def kill(self) -> None:
        """Every process in it, at once."""
        kill_group(self.folder)

    def pids(self) -> tuple[int, ...]:
        """Who is in it, zombies too."""
        return pids_in(self.folder)

    def remove(self) -> None:
        """It stays when somebody in it can't be ended; a later sweep tries again."""
        self.close_door()
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def make_group(mark: str) -> ControlGroup | None:
    """None where none can be made."""
    home = home_of_groups()
    if home is None:
        return None
    folder = home / f"{PREFIX}-{mark}-{os.getpid()}-{next(_numbers)}"
    try:
        folder.mkdir()
        return ControlGroup(folder)
    except OSError:
        return None


def groups_of(mark: str) -> Iterator[Path]:
    """What runs with this mark left behind, in the same place of the hierarchy."""
    home = home_of_groups()
    if home is not None:
        yield from home.glob(f"{PREFIX}-{mark}-*")


def kill_group(folder: Path) -> None:
    """Every process in the group of `folder`."""
    with contextlib.suppress(OSError):
        (folder / "cgroup.kill").write_text("1")


def pids_in(folder: Path) -> tuple[int, ...]:
    """Who is in the group of `folder`."""
    try:
        return tuple(int(line) for line in (folder / "cgroup.procs").read_text().split())
    except OSError:
        return ()


def remove_group(folder: Path, wait_s: float) -> None:
    """An empty one; the kernel may take a moment to see that it is."""
    deadline = time.monotonic() + wait_s
    while folder.exists() and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            folder.rmdir()
            return
        time.sleep(POLL_S)


def remove_abandoned() -> None:
    """Empty groups of runners that are no more, whoever they were."""
    home = home_of_groups()
    for folder in home.glob(f"{PREFIX}-*-*-*") if home is not None else ():
        runner = folder.name.split("-")[-2]
        if runner.isdigit() and identity_of(int(runner)) is None:
            with contextlib.suppress(OSError):
                folder.rmdir()


@functools.cache
def home_of_groups() -> Path | None:
    """Our own group, if we may make others in it and end them in one stroke (Linux 5.14)."""
    try:
        own = next(line[3:].strip() for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
        mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        point = next(fields[4] for fields in mounts if fields[fields.index("-") + 1] == "cgroup2")
    except (OSError, StopIteration):
        return None
    home = Path(point) / own.lstrip("/")
    trial = home / f"{PREFIX}-trial-{os.getpid()}"
    try:
        trial.mkdir()
    except OSError:
        return None
    can_kill = (trial / "cgroup.kill").exists() and os.access(trial / "cgroup.procs", os.W_OK)
    trial.rmdir()
    return home if can_kill else None
