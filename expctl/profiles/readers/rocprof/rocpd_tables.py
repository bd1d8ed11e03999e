"""Access to the tables of one process in a rocpd database."""

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from expctl.profiles.readers.sqlite_file import columns, quoted

DISPATCH = "rocpd_kernel_dispatch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The tables of one process in a rocpd database, whose names end in `suffix` (the process's guid, or "")."""

    database: sqlite3.Connection
    path: Path
    suffix: str

    def name(self, what: str) -> str:
        """Return the full name, quoted for SQL, of this process's table `what`, e.g. `kernel_dispatch`."""
        return quoted(f"rocpd_{what}{self.suffix}")

    def columns(self, what: str) -> dict[str, bool]:
        """Return the columns of this process's table `what` (name -> may it be NULL); {} where there is no such table."""
        return columns(self.database, f"rocpd_{what}{self.suffix}")

    def rows(self, what: str) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of this process's table `what` as mappings from column name (lower case) to value. Yields nothing
        where there is no such table.
        """
        if self.columns(what):
            yield from by_column(self.database.execute(f"SELECT * FROM {self.name(what)}"))  # noqa: S608  a quoted name


def by_column(rows: sqlite3.Cursor) -> Iterator[Mapping[str, Any]]:
    """Yield rows of a cursor as mappings from column name (lower case) to value."""
    names = [column[0].lower() for column in rows.description]
    return (dict(zip(names, row, strict=True)) for row in rows)
