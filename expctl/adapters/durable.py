"""Writing files so that a crash leaves the old contents or the new, never half; and removing them so that a refusal is seen."""

import errno
import os
from pathlib import Path

from expctl.launcher.removal import remove_tree

__all__ = ["flush_folder", "forget_half_written", "move", "remove_tree", "replace"]


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


def move(source: Path, target: Path) -> None:
    """Flush `source` and rename it over `target`, on the same file system or by a copy beside it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(source, "rb") as file:
            os.fsync(file.fileno())
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        mode = source.stat().st_mode
        replace(target, source.read_bytes())
        target.chmod(mode)
        source.unlink()
    flush_folder(target.parent)


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
