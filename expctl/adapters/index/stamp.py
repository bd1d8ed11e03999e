"""Identify the code that built an index of records, and the git tree of `experiments/` whose records are in it."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

ROOMS = ("adapters", "domain", "flow/rules", "inspection")
"""Whose code reads and summarises records, and compares patches with rules."""


def code_stamp(package: Path | None = None) -> str:
    """Return a text that differs if the code that builds the index differs. It is made of Python's version and of the path,
    size and modification time of each module below `package`. None is expctl as this process found it when it first asked.
    """
    return _own_stamp() if package is None else _stamp(package)


@functools.cache
def _own_stamp() -> str:
    return _stamp(Path(__file__).parents[2])


def _stamp(package: Path) -> str:
    found: list[tuple[str, int, int]] = []
    folders = [str(package / room) for room in ROOMS]
    for folder in folders:
        with os.scandir(folder) as entries:
            for each in entries:
                if each.name.endswith(".py"):
                    seen = each.stat()
                    found.append((each.path, seen.st_size, seen.st_mtime_ns))
                elif each.is_dir() and each.name != "__pycache__":
                    folders.append(each.path)
    return repr((sys.version_info[:3], sorted(found)))


def stamp_of(index: sqlite3.Connection) -> tuple[str, str] | None:
    """Return (`code_stamp` of the code that built the index, git tree id of its records); None if the index is empty."""
    if not index.execute("select 1 from sqlite_master limit 1").fetchone():
        return None
    return index.execute("select code, tree from made").fetchone() or ("", "")
