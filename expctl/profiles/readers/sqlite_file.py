"""SQLite databases opened for reading only, and what goes wrong with them in words."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from expctl.profiles.raw import refusals

MAGIC = b"SQLite format 3\x00"
WAIT_S = 1.0


@contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """The database at `path`; nothing is written, beside it either. Raises Refused, also while it is being read."""
    try:
        _check_size(path)
        with closing(sqlite3.connect(_address(path), uri=True, timeout=WAIT_S, isolation_level=None)) as database:
            database.text_factory = lambda raw: raw.decode(errors="replace")
            database.execute("PRAGMA query_only = 1")
            yield database
    except OSError as error:
        raise refusals.unreadable(path, error) from error
    except sqlite3.OperationalError as error:
        raise _refusal(path, str(error)) from error
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:  # the last: a column's own name
        raise refusals.damaged(path, f"SQLite says: {error}") from error


def tables(database: sqlite3.Connection) -> tuple[str, ...]:
    """Names of the tables, without views."""
    return tuple(
        name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'") if isinstance(name, str)
    )


def columns(database: sqlite3.Connection, table: str) -> dict[str, bool]:
    """Columns of a table in lower case, and whether each may be NULL."""
    return {row[1].lower(): not row[3] for row in database.execute(f"PRAGMA table_info({quoted(table)})")}


def quoted(name: str) -> str:
    """A table's or column's name inside a statement."""
    return '"' + name.replace('"', '""') + '"'


def _address(path: Path) -> str:
    """Read-only. `immutable` lets a WAL database lie in a folder that can't be written, once nothing is left to replay."""
    wal = path.with_name(path.name + "-wal")
    settled = not wal.exists() or wal.stat().st_size == 0
    frozen = _is_wal(path) and settled
    return f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if frozen else ''}"


def _is_wal(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(20)[18:20] == b"\x02\x02"


def _check_size(path: Path) -> None:
    """A database that is shorter than its header says was cut off. SQLite notices only when it gets there."""
    with open(path, "rb") as file:
        header = file.read(100)
    if len(header) < 100:
        raise refusals.damaged(path, f"{len(header)} bytes, less than a database's header")
    page = int.from_bytes(header[16:18], "big")
    page = 65536 if page == 1 else page
    pages = int.from_bytes(header[28:32], "big")
    valid = header[24:28] == header[92:96]
    size = path.stat().st_size
    if valid and pages * page > size:
        raise refusals.damaged(path, f"cut off: {size} bytes of {pages * page}")


def _refusal(path: Path, said: str) -> Exception:
    if "locked" in said or "busy" in said:
        return refusals.damaged(
            path, f"in use by another program: {said}", hint="wait until the profiler has ended, or copy the file"
        )
    if "unable to open" in said or "readonly" in said:
        return refusals.damaged(
            path,
            f"cannot be opened: {said} (an unfinished transaction lies beside it?)",
            hint="open it once with sqlite3 to settle it",
        )
    if "no such table" in said or "no such column" in said:
        return refusals.unknown(path, f"a database of another schema: {said}")
    return refusals.damaged(path, f"SQLite says: {said}")
