"""Remove folders that a child process wrote, which may be very deep, lack permissions or contain symbolic links.

They are walked by descriptors, at most DEEPEST levels below the root folder; what lies deeper is first moved up to the root.
"""

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from expctl.domain.machine.os_errors import is_trouble

DEEPEST = 50
FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
RIGHTS = 0o700


def remove_tree(folder: Path) -> None:
    """Remove a folder and all below it, as far as possible; do nothing if it doesn't exist or is a link. Raises OSError only if
    the disk or the machine is in trouble (e.g. an I/O error); what else can't be removed stays.
    """
    empty(folder)
    with _going_on():
        os.rmdir(folder)


def empty(folder: Path) -> None:
    """Remove everything in a folder, as far as possible, but keep the folder. Raises OSError like `remove_tree`."""
    with _going_on(), _opened(folder, None) as root:
        while _clear(root, root, 1):
            pass


def _clear(folder: int, root: int, depth: int) -> bool:
    """Remove the contents of the folder open as descriptor `folder`, which lies `depth` levels deep. Folders below DEEPEST
    levels are moved to the folder `root` instead. Returns whether any was moved.
    """
    was_lifted = False
    with os.scandir(folder) as found:
        entries = [(each.name, each.is_dir(follow_symlinks=False)) for each in found]
    for name, is_folder in entries:
        with _going_on():
            if not is_folder:
                os.unlink(name, dir_fd=folder)
            elif depth < DEEPEST:
                with _going_on(), _opened(name, folder) as below:
                    was_lifted |= _clear(below, root, depth + 1)
                os.rmdir(name, dir_fd=folder)
            else:
                with _going_on(), _opened(name, folder):
                    pass  # opening adds the permissions that a move needs
                os.rename(name, f".lifted.{secrets.token_hex(8)}", src_dir_fd=folder, dst_dir_fd=root)
                was_lifted = True
    return was_lifted


@contextlib.contextmanager
def _opened(name: str | Path, folder: int | None) -> Iterator[int]:
    """Yield a descriptor of the folder `name`, after giving its owner all permissions; `folder` is an open parent or None.
    Raises OSError.
    """
    place = os.open(name, os.O_PATH | FOLDER, dir_fd=folder)
    try:
        mode = os.fstat(place).st_mode
        if mode & RIGHTS != RIGHTS:
            with _going_on():
                os.chmod(f"/proc/self/fd/{place}", mode & 0o7777 | RIGHTS)
        descriptor = os.open(".", os.O_RDONLY | FOLDER, dir_fd=place)
    finally:
        os.close(place)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _going_on() -> Iterator[None]:
    """Suppress an OSError of the enclosed block, unless it means trouble of the disk or the machine."""
    try:
        yield
    except OSError as error:
        if is_trouble(error):
            raise
