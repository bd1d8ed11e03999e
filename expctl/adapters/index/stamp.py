"""What an index was made of: the code that made it, and the tree of the experiments in it."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

ROOMS = ("adapters", "domain")  # what reads and reduces


def code_stamp(package: Path = Path(__file__).parents[2]) -> str:
    """Return what stands for the code that makes an index: the modules of `package` by name, size and time of change."""
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


def made_of(index: sqlite3.Connection) -> tuple[str, str] | None:
    """(code, tree) of an index; None of an empty one."""
    if not index.execute("select 1 from sqlite_master limit 1").fetchone():
        return None
    return index.execute("select code, tree from made").fetchone() or ("", "")
