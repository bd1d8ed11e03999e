"""Tells a regular file from what may keep a reader waiting, before it is opened."""

import os
import stat
from pathlib import Path

from expctl.domain.errors import Refused


def facts_of(path: Path, *, name: str, expected: str, hint: str) -> os.stat_result:
    """Return the facts of the regular file at `path`, called `name` in what is said. Raises OSError, and Refused with
    `expected` and `hint` for a folder, device, pipe or socket.
    """
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise Refused(
            f"{name} is no regular file",
            code="not-a-regular-file",
            expected=expected,
            found="a folder" if stat.S_ISDIR(about.st_mode) else "a device, pipe or socket",
            where=name,
            hint=hint,
        )
    return about
