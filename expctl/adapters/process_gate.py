"""The gate: a lock per machine around measuring, and a look for foreign work by the protocol's patterns."""

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from expctl.adapters.child import MARK
from expctl.adapters.holder import describe_holder, mark_holder, read_holder
from expctl.domain.errors import Busy, Refused
from expctl.domain.ports import Foreign

LOCK_FOLDER = "EXPCTL_LOCK_DIR"
POLL_S = 0.1
INTERPRETERS = ("python*", "bash", "sh", "dash", "perl", "node", "ruby")


class ProcessGate:
    """Watches for `patterns`; our own children (they carry `mark`) don't count."""

    def __init__(self, *, patterns: Sequence[str], mark: str, device: str) -> None:
        self._patterns = tuple(patterns)
        self._mark = mark
        self._lock = Path(os.environ.get(LOCK_FOLDER, tempfile.gettempdir())) / f"expctl.{device}.lock"

    def foreign(self) -> tuple[Foreign, ...]:
        """Every process that blocks measuring now."""
        import psutil

        own = _ancestors(psutil.Process())
        found = []
        for process in psutil.process_iter():
            if process.pid in own:
                continue
            with contextlib.suppress(psutil.Error, OSError):
                words = process.cmdline()
                name, pattern = _matching(words, self._patterns)
                if pattern and process.status() != psutil.STATUS_ZOMBIE and not self._is_ours(process.pid):
                    found.append(Foreign(pid=process.pid, name=name, pattern=pattern))
        return tuple(found)

    def measured_by(self) -> str:
        """Who holds the machine's lock; empty when nobody does. Takes no lock. Raises Refused if it can't be opened."""
        os.close(self._open())
        holder = read_holder(self._lock)
        return describe_holder(self._lock) if holder is not None and holder.alive() else ""

    @contextlib.contextmanager
    def measuring(self, *, wait_s: float, quiet_s: float) -> Iterator[float]:
        """Hold the machine alone; yields the seconds waited. Raises Busy after `wait_s`: nothing ran."""
        started = time.monotonic()
        descriptor, locked = self._open(), False
        try:
            self._lock_exclusively(descriptor, started + wait_s)
            locked = True
            mark_holder(descriptor, experiment="", step="measuring")
            self.wait_until_quiet(wait_s=max(0.0, started + wait_s - time.monotonic()), quiet_s=quiet_s)
            yield time.monotonic() - started
        finally:
            if locked:
                os.ftruncate(descriptor, 0)
            os.close(descriptor)  # this releases the lock

    def wait_until_quiet(self, *, wait_s: float, quiet_s: float) -> float:
        """Return the seconds waited until nothing foreign was seen for `quiet_s`. Raises Busy naming who, after `wait_s`."""
        os.close(self._open())  # a lock that can't be opened is found now, not after the build
        started = time.monotonic()
        deadline = started + wait_s
        quiet_since: float | None = None
        while True:
            foreign = self.foreign()
            now = time.monotonic()
            if foreign:
                quiet_since = None
            elif quiet_since is None:
                quiet_since = now
            if quiet_since is not None and now - quiet_since >= quiet_s:
                return now - started
            if foreign and now > deadline:
                names = ", ".join(f"{each.name} (pid {each.pid}, matches {each.pattern})" for each in foreign)
                raise Busy(
                    "the machine is not quiet",
                    expected=f"no other benchmark or profiler for {quiet_s:g} s",
                    found=names,
                    hint="let it finish, then run the same command again; `expctl gate` shows what blocks",
                )
            time.sleep(POLL_S)

    def _open(self) -> int:
        """The lock file, for every user of the machine. It is linked into place complete, then opened without O_CREAT:
        in sticky folders the kernel refuses O_CREAT on another user's file.
        """
        try:
            if not os.path.lexists(self._lock):
                descriptor, temporary = tempfile.mkstemp(prefix=".expctl", dir=self._lock.parent)
                os.fchmod(descriptor, 0o666)
                os.close(descriptor)
                with contextlib.suppress(FileExistsError):
                    os.link(temporary, self._lock)
                os.unlink(temporary)
            return os.open(self._lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError as error:
            raise Refused(
                "the machine's lock cannot be opened",
                expected="a plain file that everybody may open, in a folder that exists",
                found=f"{error.strerror}",
                where=str(self._lock),
                hint=f"remove it if it is not expctl's own, or set {LOCK_FOLDER} to a folder that all users share",
            ) from error

    def _lock_exclusively(self, descriptor: int, deadline: float) -> None:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Busy(
                        "another expctl is measuring on this machine",
                        expected="the machine's lock",
                        found=f"held by {describe_holder(self._lock)}",
                        where=str(self._lock),
                        hint="let it finish, then run the same command again",
                    ) from None
                time.sleep(POLL_S)
            else:
                return

    def _is_ours(self, pid: int) -> bool:
        with contextlib.suppress(OSError):
            return f"{MARK}={self._mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return False


def _matching(words: Sequence[str], patterns: Sequence[str]) -> tuple[str, str]:
    """(name, pattern) of the executable that matches, or of the script when the executable is an interpreter; else empty."""
    if not words:
        return "", ""
    names = [Path(words[0]).name]
    if any(fnmatch(names[0], interpreter) for interpreter in INTERPRETERS):
        names += [Path(word).name for word in _after_options(words[1:])][:1]
    return next(((name, pattern) for pattern in patterns for name in names if fnmatch(name, pattern)), ("", ""))


def _after_options(words: Sequence[str]) -> Iterator[str]:
    """The words that are neither options of an interpreter nor the value of -W or -X."""
    values = False
    for word in words:
        if not values and not word.startswith("-"):
            yield word
        values = word in ("-W", "-X")


def _ancestors(process: "object") -> set[int]:
    import psutil

    assert isinstance(process, psutil.Process)  # noqa: S101  narrows for the type checker
    return {process.pid, *(parent.pid for parent in process.parents())}
