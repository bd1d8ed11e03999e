"""The log of a child. A child has it as its output, and so can take every right from it by fchmod, where it is the owner's."""

import contextlib
import os
import stat
from pathlib import Path
from typing import IO

from expctl.adapters.child.redaction import redact_file
from expctl.launcher.launch import LOG_BYTES_MAX

BYTES_KEPT = 1 << 20  # of a log that exceeded its limit
TRIES = 1000  # another child that writes to the same log may take the rights again meanwhile


class StepLog:
    """The log at `path`, made if it is missing, for one child. What is done at the child's end is done through a descriptor
    that was opened before the child. Raises OSError.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path, self._descriptor = path, _open(str(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        facts = os.fstat(self._descriptor)
        self._mode, self._bytes_before = stat.S_IMODE(facts.st_mode), facts.st_size

    def output(self) -> IO[bytes]:
        """Return the log opened to append, as the output of the child. Raises OSError."""
        return open(self._path, "ab", opener=_open)

    def cut(self, most: int) -> None:
        """Cut the log off if it is longer than `most` bytes."""
        if os.fstat(self._descriptor).st_size > most:
            os.truncate(self._descriptor, BYTES_KEPT)

    def close(self) -> None:
        """Give the log its mode back, and mask the secrets that the child wrote."""
        with contextlib.suppress(OSError):  # of another owner, who is root
            os.fchmod(self._descriptor, self._mode)
        self.cut(LOG_BYTES_MAX)  # the child's last act may have been to make a log of holes
        redact_file(self._descriptor, since=self._bytes_before)
        os.close(self._descriptor)


def _open(path: str, flags: int) -> int:
    flags |= os.O_NOFOLLOW  # an earlier unconfined child may have put a link there
    for _ in range(TRIES):
        try:
            return os.open(path, flags, 0o644)
        except PermissionError:
            _make_usable(path)
    return os.open(path, flags, 0o644)


def _make_usable(path: str) -> None:
    """Let the owner of the file `path` read and write it. Raises PermissionError if it is somebody else's."""
    place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.chmod(f"/proc/self/fd/{place}", 0o600)  # fchmod doesn't take a descriptor of a path alone
    finally:
        os.close(place)
