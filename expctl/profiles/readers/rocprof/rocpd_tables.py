"""The tables of one process in a rocpd database."""

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from expctl.profiles.readers.sqlite_file import columns, quoted

DISPATCH = "rocpd_kernel_dispatch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The tables of one process. `suffix` is its guid with underscores, and empty in a database that has no guids."""

    database: sqlite3.Connection
    path: Path
    suffix: str

    def name(self, what: str) -> str:
        """The quoted name of a table."""
        return quoted(f"rocpd_{what}{self.suffix}")

    def columns(self, what: str) -> dict[str, bool]:
        """Its columns, and whether each may be NULL; empty where there is no such table."""
        return columns(self.database, f"rocpd_{what}{self.suffix}")

    def rows(self, what: str) -> Iterator[Mapping[str, Any]]:
        """All rows by column, in lower case."""
        if self.columns(what):
            yield from by_column(self.database.execute(f"SELECT * FROM {self.name(what)}"))  # noqa: S608  a quoted name


def by_column(rows: sqlite3.Cursor) -> Iterator[Mapping[str, Any]]:
    """Rows by column, in lower case."""
    names = [column[0].lower() for column in rows.description]
    return (dict(zip(names, row, strict=True)) for row in rows)
