"""Open a folder below a root, one part of its path after the other, so that no symbolic link leads out of the root."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[int]:
    """Yield a descriptor of a folder; close it afterwards."""
    descriptor = os.open(folder, FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def folder_beneath(root: Path, parts: Sequence[str], *, make: bool = False) -> Iterator[int | None]:
    """Open the folder whose path below `root` is `parts`; yield its descriptor. `make` creates missing folders on the way.
    Yields None if the folder doesn't exist, or if a part of its path is a symbolic link.
    """
    with contextlib.ExitStack() as stack:
        folder: int | None = stack.enter_context(opened(root))
        for part in parts:
            try:
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, dir_fd=folder)
                folder = os.open(part, FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            except (FileNotFoundError, NotADirectoryError):
                folder = None
                break
            stack.callback(os.close, folder)
        yield folder
