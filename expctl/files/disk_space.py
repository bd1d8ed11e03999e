"""Is the disk full? Then what a step or git says of it is no news of the experiment."""

import errno
import os
from pathlib import Path

ROOM_LEAST_BYTES = 1 << 20
SIGNS = {"No space left on device": errno.ENOSPC, "Disk quota exceeded": errno.EDQUOT, "Read-only file system": errno.EROFS}


def check_room(folder: Path, least_bytes: int = ROOM_LEAST_BYTES) -> None:
    """Raises OSError (ENOSPC) when the file system of `folder` has no room, or no inode, left."""
    facts = os.statvfs(next(each for each in (folder, *folder.parents) if each.exists()))
    if facts.f_bavail * facts.f_frsize < least_bytes or (facts.f_files and not facts.f_favail):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def raise_shortage(said: str, folder: Path) -> None:
    """Raises the OSError that a tool's own words tell of; nothing when they tell of none."""
    for sign, number in SIGNS.items():
        if sign in said:
            raise OSError(number, sign, str(folder))
