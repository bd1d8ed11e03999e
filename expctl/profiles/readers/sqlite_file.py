"""Open SQLite databases read-only, and turn SQLite's errors into Refused."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from expctl.profiles.raw import refusals

MAGIC = b"SQLite format 3\x00"
WAIT_S = 1.0


@contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the SQLite database at `path` for reading, and yield the connection; no file is written. Raises Refused for a
    database that is locked, damaged, or of another schema, also while the caller reads from it.
    """
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
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:  # UnicodeDecodeError: the name of a column
        raise refusals.damaged(path, f"SQLite says: {error}") from error


def tables(database: sqlite3.Connection) -> tuple[str, ...]:
    """Return the names of all tables of a database; views are left out."""
    return tuple(
        name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'") if isinstance(name, str)
    )


def columns(database: sqlite3.Connection, table: str) -> dict[str, bool]:
    """Return the columns of a table: name in lower case -> whether its values may be NULL."""
    return {row[1].lower(): not row[3] for row in database.execute(f"PRAGMA table_info({quoted(table)})")}


def quoted(name: str) -> str:
    """Quote the name of a table or column for use in an SQL statement."""
    return '"' + name.replace('"', '""') + '"'


def _address(path: Path) -> str:
    """Return the URI by which SQLite opens a database read-only. A database in WAL mode without a log to replay is opened as
    `immutable`, because SQLite can't open it otherwise in a folder that isn't writable.
    """
    wal = path.with_name(path.name + "-wal")
    settled = not wal.exists() or wal.stat().st_size == 0
    frozen = _is_wal(path) and settled
    return f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if frozen else ''}"


def _is_wal(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(20)[18:20] == b"\x02\x02"


def _check_size(path: Path) -> None:
    """Raise Refused if a database file is shorter than its header says, i.e. cut off. SQLite itself would notice that only when
    it reads a missing page.
    """
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


def _refusal(path: Path, message: str) -> Exception:
    if "locked" in message or "busy" in message:
        return refusals.damaged(
            path, f"in use by another program: {message}", hint="wait until the profiler has ended, or copy the file"
        )
    if "unable to open" in message or "readonly" in message:
        return refusals.damaged(
            path,
            f"cannot be opened: {message} (an unfinished transaction lies beside it?)",
            hint="open it once with sqlite3 to settle it",
        )
    if "no such table" in message or "no such column" in message:
        return refusals.unknown(path, f"a database of another schema: {message}")
    return refusals.damaged(path, f"SQLite says: {message}")
