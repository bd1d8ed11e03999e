"""Writing files so that a crash leaves the old contents or the new, never half; and removing them so that a refusal is seen."""

import os
from pathlib import Path

from expctl.launcher.removal import remove_tree

__all__ = ["flush", "flush_folder", "forget_half_written", "remove_tree", "replace"]


def replace(path: Path, contents: bytes) -> None:
    """Write a temporary file, flush it, rename it over `path`, flush the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with open(temporary, "wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)


def flush(file: Path) -> None:
    """Make the contents of a file durable."""
    with open(file, "rb") as opened:
        os.fsync(opened.fileno())


def forget_half_written(folder: Path) -> None:
    """Remove the temporary files of `replace` in a folder in which nobody writes now."""
    for temporary in folder.glob(".*.new"):
        temporary.unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Make names in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
