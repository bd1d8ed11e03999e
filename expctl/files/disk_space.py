"""Detects a full disk, so that an error it causes isn't blamed on the experiment."""

import errno
import os
from pathlib import Path

SPACE_LEAST_BYTES = 1 << 20


def check_space(folder: Path, least_bytes: int = SPACE_LEAST_BYTES) -> None:
    """Raise OSError (ENOSPC) when the file system of `folder` has less than `least_bytes` free, or no free inode."""
    facts = os.statvfs(next(each for each in (folder, *folder.parents) if each.exists()))
    if facts.f_bavail * facts.f_frsize < least_bytes or (facts.f_files and not facts.f_favail):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
