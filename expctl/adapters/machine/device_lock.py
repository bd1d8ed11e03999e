"""The lock of this machine and its devices: shared by whoever builds or tests, held alone by whoever measures.

It is flock on one file that every user may open, in a folder that all users share, so it excludes runs in other
repositories, and the kernel drops it however its holder dies. One lock for all devices: the watch calls any benchmark on
the machine foreign, so a finer lock would let in what the watch then taints.
"""

import contextlib
import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from expctl.adapters.machine.lock_holder import HolderFacts, describe_holder, is_mark, mark_holder, read_holder
from expctl.domain.errors import Busy, Refused

FOLDER = "EXPCTL_LOCK_DIR"
SHARED_FOLDERS = (Path("/run/lock"), Path("/tmp"))  # noqa: S108  the rules below are those for a folder that strangers share
NAME = "expctl.machine.lock"
EVERYBODY = 0o666
POLL_S = 0.1
TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LockHolder:
    """A process that holds the lock; `facts` are what it said of itself, if it is alone."""

    pid: int
    is_alone: bool
    facts: HolderFacts | None = None


class MachineLock:
    """`experiment` is what others are told that we measure."""

    def __init__(self, folder: Path | None = None, *, experiment: str = "") -> None:
        self.path = (folder or lock_folder()) / NAME
        self._experiment = experiment
        self._is_held = self._is_shared = False

    @contextlib.contextmanager
    def shared(self, *, wait_s: float) -> Iterator[None]:
        """Work that others may do at the same time; nothing to do for whoever holds it alone. Raises Busy after `wait_s`."""
        if self._is_held:
            yield
            return
        descriptor = self._acquire(fcntl.LOCK_SH, wait_s)
        self._is_shared = True
        try:
            yield
        finally:
            self._is_shared = False
            os.close(descriptor)  # this releases the lock

    @contextlib.contextmanager
    def alone(self, *, wait_s: float) -> Iterator[None]:
        """Measuring. Raises Busy naming who, after `wait_s`: nothing ran."""
        if self._is_shared:
            raise RuntimeError("the shared lock is released before it is asked for alone: no upgrade is atomic")
        descriptor = self._acquire(fcntl.LOCK_EX, wait_s)
        self._is_held = True
        try:
            mark_holder(descriptor, experiment=self._experiment, step="measuring")
            yield
        finally:
            self._is_held = False
            os.ftruncate(descriptor, 0)
            os.close(descriptor)

    def check(self) -> None:
        """Raises Refused when it could not be taken: better now than after the build."""
        os.close(self._open())

    def look(self) -> None:
        """As `check`, but nothing is made."""
        try:
            os.lstat(self.path)
        except FileNotFoundError:
            self._look_at_folder()
        except OSError as error:
            raise self._refused(error.strerror or str(error)) from error
        else:
            os.close(self._open())

    def _look_at_folder(self) -> None:
        folder = self.path.parent
        if not os.path.isdir(folder):
            raise self._refused("no such folder")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise self._refused("a folder that can't be written")

    def holders(self) -> tuple[LockHolder, ...]:
        """Who holds it now, without locking: what the kernel lists, and who wrote the file and is still there."""
        try:
            found = os.stat(self.path, follow_symlinks=False)
        except OSError:
            return ()
        facts = read_holder(self.path)
        facts = facts if facts is not None and facts.alive() else None
        listed = {pid: LockHolder(pid=pid, is_alone=alone) for pid, alone in _flocks(found)}
        if facts is not None:
            listed[facts.pid] = LockHolder(pid=facts.pid, is_alone=True, facts=facts)
        return tuple(listed.values())

    def _acquire(self, operation: int, wait_s: float) -> int:
        """A descriptor with the lock on it, of the file that lies there now. Raises Busy or Refused."""
        deadline = time.monotonic() + wait_s
        while True:
            descriptor = self._open()
            try:
                fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                if time.monotonic() > deadline:
                    raise self._busy(operation) from None
                time.sleep(POLL_S)
                continue
            except OSError as error:
                os.close(descriptor)
                raise self._refused(error.strerror or str(error)) from error
            if self._lies_there(descriptor):
                return descriptor
            os.close(descriptor)

    def _open(self) -> int:
        """Opened without O_CREAT, which sticky folders refuse for another user's file; never a link, a pipe or a stranger's
        file. Raises Refused.
        """
        for _ in range(TRIES):
            try:
                self._make()
                kind = os.lstat(self.path).st_mode
                if not stat.S_ISREG(kind):
                    raise self._refused(_kind(kind))
                descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            except FileNotFoundError as error:
                missing = error
                continue  # removed in between
            except OSError as error:
                raise self._refused(error.strerror or str(error)) from error
            if stat.S_ISREG(os.fstat(descriptor).st_mode) and is_mark(descriptor):
                return descriptor
            os.close(descriptor)
            raise self._refused("a file with something else in it")
        raise self._refused(missing.strerror or str(missing)) from missing

    def _make(self) -> None:
        """Linked into place complete: nobody ever sees it with other rights."""
        if os.path.lexists(self.path):
            return
        descriptor, temporary = tempfile.mkstemp(prefix=".expctl", dir=self.path.parent)
        try:
            os.fchmod(descriptor, EVERYBODY)
            with contextlib.suppress(FileExistsError):
                os.link(temporary, self.path)
        finally:
            os.close(descriptor)
            os.unlink(temporary)

    def _lies_there(self, descriptor: int) -> bool:
        """Is it still the file that others open? Somebody may have cleaned the folder."""
        ours = os.fstat(descriptor)
        try:
            theirs = os.lstat(self.path)
        except OSError:
            return False
        return (ours.st_dev, ours.st_ino) == (theirs.st_dev, theirs.st_ino)

    def _busy(self, operation: int) -> Busy:
        others = [each for each in self.holders() if each.pid != os.getpid()]
        names = [describe_holder(each.facts) if each.facts else f"pid {each.pid}" for each in others]
        alone = operation == fcntl.LOCK_SH or any(each.is_alone for each in others)
        return Busy(
            "another expctl is measuring on this machine" if alone else "another expctl builds or tests on this machine",
            code="machine-in-use",
            expected="the machine's lock",
            found=f"held by {', '.join(names) or 'a process that cannot be seen from here'}",
            where=str(self.path),
            hint="let it finish, then run the same command again; `expctl gate` shows what blocks",
        )

    def _refused(self, found: str) -> Refused:
        return Refused(
            "the machine's lock cannot be opened",
            code="machine-lock-cannot-open",
            expected="a plain file of ours that everybody may open, in a folder that exists",
            found=found,
            where=str(self.path),
            hint=f"remove it if it is not expctl's own, or set {FOLDER} to a folder that all users share",
        )


def lock_folder() -> Path:
    """Where the lock lies: what the environment says (tests), else the first folder that all users of the machine share.

    It must not depend on who asks, so TMPDIR has no say.
    """
    named = os.environ.get(FOLDER)
    if named:
        return Path(named)
    return next((folder for folder in SHARED_FOLDERS if _is_shared(folder)), SHARED_FOLDERS[-1])


def _is_shared(folder: Path) -> bool:
    try:
        mode = os.lstat(folder).st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and mode & 0o1777 == 0o1777


def _flocks(found: os.stat_result) -> Iterator[tuple[int, bool]]:
    """(pid, alone?) of every flock on this file, from /proc/locks; what can't be told apart is left out."""
    wanted = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    try:
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        words = line.split()
        if len(words) >= 6 and words[1] == "FLOCK" and words[5] == wanted and words[4].isdigit():
            yield int(words[4]), words[3] == "WRITE"


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISLNK, "a symbolic link"), (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"))
    return next((name for is_kind, name in kinds if is_kind(mode)), "no plain file")
