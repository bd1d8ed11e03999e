"""A reserve of disk space, given up when the disk is full, so that what was just measured can still be written."""

import contextlib
import errno
import os
from pathlib import Path

BYTES = 1 << 20
FULL = (errno.ENOSPC, errno.EDQUOT)


class Reserve:
    """One file of `BYTES` in expctl's state folder."""

    def __init__(self, state: Path) -> None:
        self._file = state / "reserve"

    def refill(self) -> None:
        """Take the space. A disk that has none left leaves things as they are: the run will say so soon enough."""
        with contextlib.suppress(OSError):
            if self._file.exists() and self._file.stat().st_size == BYTES:
                return
            descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, BYTES)
            except OSError:
                os.ftruncate(descriptor, 0)
                raise
            finally:
                os.close(descriptor)

    def give_up(self) -> bool:
        """Free the space. False when there was none."""
        try:
            had = self._file.stat().st_size > 0
            self._file.unlink()
        except OSError:
            return False
        return had
