"""Writes files so that a crash leaves the old or the new contents, never a part of them; and removes folders completely."""

import glob
import os
from collections.abc import Iterable
from pathlib import Path

from expctl.launcher.removal import remove_tree

__all__ = ["flush", "flush_all", "remove_temporary_files", "remove_tree", "replace", "replace_for_user"]

FLUSHES_AT_ONCE = 16


def replace(path: Path, contents: bytes, *, durably: bool = True) -> None:
    """Write `contents` to `path`, atomically and `durably` (temporary file, fsync, rename, fsync of folder). Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Children in pid namespaces of their own have equal numbers.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(6).hex()}.new")
    try:
        with open(temporary, "wb") as file:
            file.write(contents)
            if durably:
                file.flush()
                os.fsync(file.fileno())
        os.rename(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    if durably:
        flush(path.parent)


def replace_for_user(path: Path, contents: bytes) -> None:
    """Replace a file in a folder of the user's at once, and remove what killed calls for it left there. Raises OSError."""
    for temporary in path.parent.glob(f".{glob.escape(path.name)}.*.new"):
        pid = temporary.name.removeprefix(f".{path.name}.").partition(".")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            temporary.unlink(missing_ok=True)
    replace(path, contents)


def flush(file: Path) -> None:
    """Make the contents of `file` durable with fsync, or those names in a folder that were created, renamed or removed."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_all(paths: Iterable[Path]) -> None:
    """Make the contents of files, and the names in folders, durable: at once, so that a slow disk is waited for once."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(FLUSHES_AT_ONCE) as flushes:
        list(flushes.map(flush, paths))


def remove_temporary_files(folder: Path) -> None:
    """Remove temporary files and folders that interrupted calls left in `folder`, and locks of them. Nobody may write there."""
    for pattern in (".*.new", ".*.new.lock"):
        for temporary in folder.glob(pattern):
            if temporary.is_dir() and not temporary.is_symlink():
                remove_tree(temporary)
            else:
                temporary.unlink(missing_ok=True)
