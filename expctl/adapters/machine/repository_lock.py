"""The two locks of a repository: one for measuring, held for a whole run, and one for publishing, held for seconds.

Who measures takes the second lock only to clear up and to publish, so that others can commit to the account meanwhile. Who
only commits takes the second one alone. A process that needs both takes the first one first.
"""

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from expctl.adapters.machine.lock_holder import describe_holder, mark_holder, read_holder
from expctl.domain.errors import Busy, Refused

LOOK_EVERY_S = 0.02


class HeldLock:
    """One of the locks while this process holds it."""

    def __init__(self, descriptor: int, experiment: str) -> None:
        self._descriptor, self._experiment = descriptor, experiment

    def show(self, step: str, experiment: str = "") -> None:
        """Write the present `step` and, unless "", the `experiment` into the lock file, for other processes to read."""
        self._experiment = experiment or self._experiment
        mark_holder(self._descriptor, experiment=self._experiment, step=step)


class RepositoryLock:
    """Locks the files `lock` (measuring) and `publishing` in the folder `state` by flock, which the kernel releases at exit."""

    def __init__(self, state: Path) -> None:
        self.path = state / "lock"
        self._publishing = state / "publishing"

    @contextlib.contextmanager
    def measuring(self, *, experiment: str) -> Iterator[HeldLock]:
        """Hold the lock for measuring during the block; yield an object that writes the present step into the lock file. Raises
        Busy at once if another process holds it, Refused if the lock file is not a plain file.
        """
        with _locked(self.path, wait_s=0.0) as descriptor:
            if descriptor is None:
                raise Busy(
                    "another expctl is running in this repository",
                    code="repository-in-use",
                    expected="one run at a time",
                    found=describe_holder(self.path),
                    where=str(self.path),
                    hint="wait for it, or stop it with Ctrl-C where it runs; what a run does, expctl status shows",
                )
            with _shown(descriptor, experiment, "starting") as held:
                yield held

    @contextlib.contextmanager
    def publishing(self, *, what: str, wait_s: float) -> Iterator[None]:
        """Hold the lock for publishing during the block, which others call `what`. Raises Busy if another process holds it for
        longer than `wait_s` seconds, Refused if the lock file is not a plain file.
        """
        with _locked(self._publishing, wait_s=wait_s) as descriptor:
            if descriptor is None:
                raise Busy(
                    "another expctl is publishing in this repository",
                    code="repository-publishing",
                    expected=f"a commit that is made within {wait_s:g} s",
                    found=describe_holder(self._publishing),
                    where=str(self._publishing),
                    hint="the same command again in a moment; nothing was changed",
                )
            with _shown(descriptor, what, "publish"):
                yield

    def measured(self) -> str:
        """Return what the process that holds the lock for measuring is running, an experiment's id for instance; "" if none."""
        holder = read_holder(self.path)
        return holder.experiment if holder is not None and holder.alive() else ""


@contextlib.contextmanager
def _locked(path: Path, *, wait_s: float) -> Iterator[int | None]:
    """Yield the descriptor of the locked file; None if another process has it for longer than `wait_s`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refused(
                "the repository's lock is not a file",
                code="repository-lock-not-a-file",
                expected="a plain file",
                found="something else",
                where=str(path),
                hint="move it aside, then run the same command again",
            )
        yield descriptor if _is_taken(descriptor, time.monotonic() + wait_s) else None
    finally:
        os.close(descriptor)


def _is_taken(descriptor: int, deadline_s: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline_s:
                return False
            time.sleep(LOOK_EVERY_S)
        else:
            return True


@contextlib.contextmanager
def _shown(descriptor: int, experiment: str, step: str) -> Iterator[HeldLock]:
    held = HeldLock(descriptor, experiment)
    held.show(step)
    try:
        yield held
    finally:
        os.ftruncate(descriptor, 0)
