"""Writes files so that a crash leaves the old or the new contents, never a part of them; and removes folders completely."""

import os
from pathlib import Path

from expctl.launcher.removal import remove_tree

__all__ = ["flush", "flush_folder", "remove_temporary_files", "remove_tree", "replace"]


def replace(path: Path, contents: bytes) -> None:
    """Write `contents` to `path`, atomically and durably (temporary file, fsync, rename, fsync of folder). Raises OSError."""
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
    """Make the contents of `file` durable with fsync."""
    with open(file, "rb") as opened:
        os.fsync(opened.fileno())


def remove_temporary_files(folder: Path) -> None:
    """Remove temporary files and folders that interrupted calls left in `folder`, and locks of them. Nobody may write there."""
    for pattern in (".*.new", ".*.new.lock"):
        for temporary in folder.glob(pattern):
            if temporary.is_dir() and not temporary.is_symlink():
                remove_tree(temporary)
            else:
                temporary.unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Make created, renamed and removed names in `folder` durable with fsync."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
