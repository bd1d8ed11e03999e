"""Make a Linux control group (version 2) for each child process, so that it can be killed with all its descendants.

No descendant can leave the group. Where the kernel permits no groups, descendants are found otherwise (running.py).
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
    """The Linux control group (version 2) whose directory is `folder`; it keeps a descriptor by which a child can join."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._procs = os.open(folder / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC)

    def join(self) -> None:
        """Move the calling process into the group; called in the child before exec."""
        os.write(self._procs, b"0")

    def close(self) -> None:
        """Close the descriptor by which the child joins."""
        if self._procs >= 0:
            os.close(self._procs)
            self._procs = -1

    def remove(self) -> None:
        """Remove the control group if it contains no process; otherwise a later `remove_abandoned` does."""
        self.close()
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def make_group(mark: str) -> ControlGroup | None:
    """Make a control group for a child process and return it; None if the kernel doesn't permit that. `mark` is a hash that
    identifies the repository for which the child works.
    """
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
    """Yield the control groups made for the repository that `mark` names."""
    home = home_of_groups()
    if home is not None:
        yield from home.glob(f"{PREFIX}-{mark}-*")


def kill_group(folder: Path) -> None:
    """Kill every process in the control group at `folder`; do nothing if the group is gone."""
    with contextlib.suppress(OSError):
        (folder / "cgroup.kill").write_text("1")


def freeze_group(folder: Path, wait_s: float) -> bool:
    """Freeze the processes in the control group at `folder` and all that they start; no signal but SIGKILL wakes them. Return
    whether they all stand still within `wait_s` seconds; a long system call may take its time. Raises OSError.
    """
    (folder / "cgroup.freeze").write_text("1")
    deadline = time.monotonic() + wait_s
    while "frozen 1" not in (folder / "cgroup.events").read_text():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S / 50)
    return True


def thaw_group(folder: Path) -> None:
    """Let the processes in the control group at `folder` go on. Raises OSError."""
    (folder / "cgroup.freeze").write_text("0")


def pids_in(folder: Path) -> tuple[int, ...]:
    """Return the pids in the control group at `folder`, zombies included; none if the group is gone."""
    try:
        with open(f"{folder}/cgroup.procs", "rb", buffering=0) as file:  # asked at each turn of a worker
            return tuple(map(int, file.read().split()))
    except OSError:
        return ()


def remove_group(folder: Path, wait_s: float) -> None:
    """Remove the control group at `folder`, whose processes have ended. Try for at most `wait_s` seconds. The kernel may take a
    moment to notice that a group is empty.
    """
    deadline = time.monotonic() + wait_s
    while folder.exists() and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            folder.rmdir()
            return
        time.sleep(POLL_S)


def remove_abandoned() -> None:
    """Remove empty control groups made by expctl processes that no longer exist, for any repository."""
    home = home_of_groups()
    for folder in home.glob(f"{PREFIX}-*-*-*") if home is not None else ():
        runner = folder.name.split("-")[-2]
        if runner.isdigit() and identity_of(int(runner)) is None:
            with contextlib.suppress(OSError):
                folder.rmdir()


@functools.cache
def home_of_groups() -> Path | None:
    """Return the folder of this process's own control group if groups can be made in it, else None. The result is cached. They
    must support cgroup.kill (Linux 5.14).
    """
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
