"""The lock of this machine and its devices: shared by processes that build or test, exclusive for one that measures.

It is flock on one file that every user may open, in a folder that all users share, so it excludes runs in other
repositories, and the kernel releases it however its holder dies. Where the protocol says `gate: cards: own`, who measures on a
GPU holds it shared, and a second one, of that card, alone (docs/decisions/043-a-lock-for-each-card.md).
"""

import contextlib
import fcntl
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from expctl.adapters.machine.lock_holder import HolderFacts, describe_holder, is_lock_file, mark_holder, read_holder
from expctl.domain.errors import Busy, Refused

FOLDER = "EXPCTL_LOCK_DIR"
SHARED_FOLDERS = (Path("/run/lock"), Path("/tmp"))  # noqa: S108  the rules below are those for a folder that strangers share
NAME = "expctl.machine.lock"
CARD_NAME = re.compile(r"expctl\.card\.([\w-][\w.-]{0,79})\.lock", re.ASCII)
EVERYBODY = 0o666
POLL_S = 0.1
TRIES = 3
WAITING, MEASURING = "waiting", "measuring"


class LockHolder(Struct, frozen=True, kw_only=True):
    """A process that holds a lock. `facts` are what an exclusive holder wrote into the lock file. One that holds the machine's
    lock shared, and a card's alone, measures there: `card` is the card's name, and `facts` are those of its lock.
    """

    pid: int
    is_alone: bool
    facts: HolderFacts | None = None
    card: str = ""

    @property
    def measures(self) -> bool:
        """Does it keep a card or the machine for itself?"""
        return self.is_alone or bool(self.card)


class MachineLock:
    """The lock that keeps builds and tests (shared holders) away from measurements (an exclusive holder), for all users. It is
    a file in `folder` (None: `lock_folder()`); with `card`, the name of a card, it is that card's alone. While it is held
    exclusively, the file contains the id `experiment`. While it is waited for, `while_waiting` is called about ten times a
    second with the seconds waited, and may raise.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        card: str = "",
        experiment: str = "",
        while_waiting: Callable[[float], None] = lambda _: None,
    ) -> None:
        self.path = (folder or lock_folder()) / (f"expctl.card.{card}.lock" if card else NAME)
        self.card = card
        self.while_waiting = while_waiting
        self._experiment = experiment
        self._is_held = self._is_shared = False
        self._descriptor = -1

    @contextlib.contextmanager
    def shared(self, *, wait_s: float) -> Iterator[None]:
        """Hold the lock, shared with others; do nothing if this object holds it already. Raises Busy after `wait_s` s."""
        if self._is_held or self._is_shared:
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
        """Hold the lock exclusively, for measuring. Raises Busy, naming the holders, after `wait_s` seconds."""
        if self._is_shared:
            raise RuntimeError("the shared lock is released before it is asked for alone: no upgrade is atomic")
        descriptor = self._acquire(fcntl.LOCK_EX, wait_s)
        self._is_held = True
        try:
            self._descriptor = descriptor
            self.show(MEASURING)
            yield
        finally:
            self._is_held = False
            os.ftruncate(descriptor, 0)
            os.close(descriptor)

    @property
    def is_held(self) -> bool:
        """Return whether this object holds the lock exclusively."""
        return self._is_held

    def show(self, step: str) -> None:
        """Write into the lock file what its exclusive holder, this process, does now."""
        mark_holder(self._descriptor, experiment=self._experiment, step=step)

    def check(self) -> None:
        """Create the lock file if it is missing. Raises Refused if it can't be created or opened. Called before a build."""
        os.close(self._open())

    def look(self) -> None:
        """Raise Refused if the lock file exists but can't be opened, or is missing and can't be created. Changes nothing."""
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
        """Return the processes that hold the lock, without taking it. They come from /proc/locks, and from the lock file if the
        process that it names still lives. Of the machine's lock, a shared holder that measures on a card is told as such.
        """
        found = self._own_holders()
        if self.card or all(each.is_alone for each in found):
            return found
        cards = self.holders_of_cards().items()
        on = {each.pid: replace(each, is_alone=False, card=card) for card, held in cards for each in held if each.is_alone}
        return tuple(each if each.is_alone else on.get(each.pid, each) for each in found)

    def cards(self) -> list[str]:
        """Return the names of the cards that have a lock in this folder, held or not."""
        try:
            names = sorted(os.listdir(self.path.parent))
        except OSError:
            return []
        return [found[1] for name in names if (found := CARD_NAME.fullmatch(name))]

    def holders_of_cards(self) -> dict[str, tuple[LockHolder, ...]]:
        """Return the processes that hold the lock of each card; `is_alone` says who measures there."""
        return {card: MachineLock(self.path.parent, card=card).holders() for card in self.cards()}

    def pids(self) -> list[int]:
        """Return who holds the lock by the kernel's list alone: the file's contents may be anybody's."""
        try:
            return [pid for pid, _ in _flocks(os.stat(self.path, follow_symlinks=False))]
        except OSError:
            return []

    def _own_holders(self) -> tuple[LockHolder, ...]:
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
        started = time.monotonic()
        while True:
            descriptor = self._open()
            try:
                fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                waited_s = time.monotonic() - started
                if waited_s > wait_s:
                    raise self._busy(operation) from None
                self.while_waiting(waited_s)
                time.sleep(POLL_S)
                continue
            except OSError as error:
                os.close(descriptor)
                raise self._refused(error.strerror or str(error)) from error
            if self._is_current(descriptor):  # not removed meanwhile
                return descriptor
            os.close(descriptor)

    def _open(self) -> int:
        # Without O_CREAT, which sticky folders refuse for another user's file.
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
            if stat.S_ISREG(os.fstat(descriptor).st_mode) and is_lock_file(descriptor):
                return descriptor
            os.close(descriptor)
            raise self._refused("a file with something else in it")
        raise self._refused(missing.strerror or str(missing)) from missing

    def _make(self) -> None:
        # Linked into place when complete, so that its permissions are always 0666.
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

    def _is_current(self, descriptor: int) -> bool:
        ours = os.fstat(descriptor)
        try:
            theirs = os.lstat(self.path)
        except OSError:
            return False
        return (ours.st_dev, ours.st_ino) == (theirs.st_dev, theirs.st_ino)

    def _busy(self, operation: int) -> Busy:
        others = [each for each in self.holders() if each.pid != os.getpid()]
        names = [describe_holder(each.facts) if each.facts else f"pid {each.pid}" for each in others]
        alone = operation == fcntl.LOCK_SH or any(each.measures for each in others)
        on = f"card {self.card}" if self.card else "this machine"
        return Busy(
            f"another expctl is measuring on {on}" if alone else f"another expctl builds or tests on {on}",
            code="machine-in-use",
            expected=f"the lock of card {self.card} to be free" if self.card else "the machine's lock to be free",
            found=f"held by {', '.join(names) or 'a process that is not visible here, e.g. in another container'}",
            where=str(self.path),
            hint="let it finish, then run the same command again; `expctl gate` shows what blocks",
        )

    def _refused(self, found: str) -> Refused:
        return Refused(
            "the machine's lock file can't be opened",
            code="machine-lock-cannot-open",
            expected="a file that expctl made and every user may open, in a folder that exists",
            found=found,
            where=str(self.path),
            hint=f"remove that file if expctl did not make it, or set {FOLDER} to a folder that all users share",
        )


def lock_folder() -> Path:
    """Return the lock's folder: $EXPCTL_LOCK_DIR (for tests), else the first folder that all users of the machine share. TMPDIR
    is ignored, for the folder must not depend on the user.
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


def _flocks(found: os.stat_result) -> Iterator[tuple[int, bool]]:  # (pid, is it exclusive?)
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
