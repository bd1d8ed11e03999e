"""The lock of a repository, held for a whole run. A second run ends at once with an error that names the holder."""

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from expctl.adapters.machine.lock_holder import describe_holder, mark_holder
from expctl.domain.errors import Busy, Refused


class HeldLock:
    """The lock of a repository while this process holds it."""

    def __init__(self, descriptor: int, experiment: str) -> None:
        self._descriptor, self._experiment = descriptor, experiment

    def show(self, step: str, experiment: str = "") -> None:
        """Write the present `step` and, unless "", the `experiment` into the lock file, for other processes to read."""
        self._experiment = experiment or self._experiment
        mark_holder(self._descriptor, experiment=self._experiment, step=step)


class RepositoryLock:
    """Allows one run per repository: a flock on the file `lock` in the folder `state`, which the kernel releases at exit."""

    def __init__(self, state: Path) -> None:
        self.path = state / "lock"

    @contextlib.contextmanager
    def repository(self, *, experiment: str) -> Iterator[HeldLock]:
        """Hold the lock during the block; yield an object that writes the present step into the lock file. Raises Busy if
        another process holds the lock, Refused if the lock file is not a plain file.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Refused(
                    "the repository's lock is not a file",
                    code="repository-lock-not-a-file",
                    expected="a plain file",
                    found="something else",
                    where=str(self.path),
                    hint="move it aside, then run the same command again",
                )
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Busy(
                    "another expctl is running in this repository",
                    code="repository-in-use",
                    expected="one run at a time",
                    found=describe_holder(self.path),
                    where=str(self.path),
                    hint="expctl status shows what it does; wait for it or stop it with Ctrl-C",
                ) from None
            held = HeldLock(descriptor, experiment)
            held.show("starting")
            try:
                yield held
            finally:
                os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)
