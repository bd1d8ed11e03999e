"""A reserve of disk space that is freed when the disk is full, so that new results can still be written."""

import contextlib
import errno
import os
from pathlib import Path

BYTES = 1 << 20
FULL = (errno.ENOSPC, errno.EDQUOT)


class Reserve:
    """A file of 1 MiB in expctl's state folder, which is deleted to free space when the disk is full."""

    def __init__(self, state: Path) -> None:
        self._file = state / "reserve"

    def refill(self) -> None:
        """Allocate the file if it is missing or too small. Ignores OSError: if the disk is full, the next write reports it."""
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

    def release(self) -> bool:
        """Delete the file to free its space; return False if there was none."""
        try:
            existed = self._file.stat().st_size > 0
            self._file.unlink()
        except OSError:
            return False
        return existed
