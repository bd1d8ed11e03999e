"""Make folders in the scratch folder of a build, where its launches may have left anything."""

import contextlib
import os
import stat
from pathlib import Path

FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def make_below(scratch: Path, *names: str) -> None:
    """Make the folders `names` below `scratch`, each in the one before, so that their owner may use them. What is no folder in
    such a place is removed; no link is followed, also while a launch puts one there. Raises OSError.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as opened:
        at = _usable(os.open(scratch, FOLDER))
        opened.callback(os.close, at)
        for name in names:
            at = _usable(_entered(at, name))
            opened.callback(os.close, at)


def _entered(at: int, name: str) -> int:
    """Return a descriptor of the folder `name` in the folder `at`, after making it. Raises OSError."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=at)
    try:
        return os.open(name, FOLDER, dir_fd=at)
    except NotADirectoryError:
        os.unlink(name, dir_fd=at)
    os.mkdir(name, dir_fd=at)
    return os.open(name, FOLDER, dir_fd=at)


def _usable(folder: int) -> int:
    os.chmod(f"/proc/self/fd/{folder}", stat.S_IRWXU)  # fchmod doesn't take a descriptor of a path alone
    return folder
