"""Cache a summary of every record of a commit in a SQLite file of the state folder, so that commands read few records.

The file may be deleted at any time. Records are identified by their folder's git tree, so a change of commit reads only the
folders that differ. A file that is damaged or built by other code is rebuilt; one that can't be written is copied to memory.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from expctl.adapters.git.reader import EXPERIMENTS
from expctl.adapters.index.stamp import code_stamp, stamp_of

if TYPE_CHECKING:
    from expctl.adapters.git.reader import GitReader

T = TypeVar("T")

BUSY_S = 3.0
TRIES = 3
# Errors of a sound file that this process can't use now: it is locked, not writable or the disk is full.
UNAVAILABLE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
}


class RecordIndex:
    """The index of one repository's records in `file`, or in memory if that is None; waits `busy_s` s for other writers."""

    def __init__(self, reader: GitReader, file: Path | None, *, busy_s: float = BUSY_S) -> None:
        self._git = reader
        self._file = file
        self._busy_s = busy_s
        self._memory: sqlite3.Connection | None = None
        self._code = ""
        self._trees: dict[str, str] = {}

    def ask(self, commit: str, question: Callable[[sqlite3.Connection], T]) -> T:
        """Bring the index to the records in `commit`, call `question` on it and return its result. Raises Refused on a damaged
        record.
        """
        tree = self._trees.get(commit) or self._git.tree_of(commit, EXPERIMENTS)
        self._trees[commit] = tree
        if self._file is not None and self._memory is None:
            with suppress(OSError):
                for _ in range(2):
                    try:
                        return self._ask_file(self._file, tree, question)
                    except sqlite3.DatabaseError as error:
                        if error.sqlite_errorcode & 0xFF in UNAVAILABLE:
                            break
                    self._file.unlink()
        if self._memory is None:
            self._memory = self._copied()
        return self._answer(self._memory, tree, question)

    def look(self, question: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Call `question` on the index file as it is, without updating it, and return its result. Returns `otherwise` if the
        file is missing, damaged, or built by other code.
        """
        if self._file is not None and self._file.exists():
            with suppress(sqlite3.DatabaseError), closing(self._opened(self._file)) as index:
                if self._is_ours(index):
                    return question(index)
        return otherwise

    def note(self, write: Callable[[sqlite3.Connection], None]) -> None:
        """Call `write` on the index file in a transaction, or do nothing if it is missing, read-only or built by other code."""
        if self._file is None or not self._file.exists():
            return
        with suppress(sqlite3.DatabaseError), closing(self._opened(self._file)) as index:
            index.execute("begin immediate")
            if self._is_ours(index):
                write(index)
            index.execute("commit")

    def _is_ours(self, index: sqlite3.Connection) -> bool:
        stamp = stamp_of(index)
        return stamp is not None and stamp[0] == self._stamp()

    def _stamp(self) -> str:
        self._code = self._code or code_stamp()
        return self._code

    def _ask_file(self, file: Path, tree: str, question: Callable[[sqlite3.Connection], T]) -> T:
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(self._opened(file)) as index:
            return self._answer(index, tree, question)

    def _answer(self, index: sqlite3.Connection, tree: str, question: Callable[[sqlite3.Connection], T]) -> T:
        # In one transaction with the check of the stamp: another process may update the index at any other time.
        for _ in range(TRIES):
            index.execute("begin")
            try:
                stamp = stamp_of(index)
                if stamp == (self._stamp(), tree):
                    return question(index)
            finally:
                index.execute("rollback")
            from expctl.adapters.index.build import update

            update(index, self._git, stamp, (self._stamp(), tree))
        raise _busy()

    def _opened(self, file: Path | str) -> sqlite3.Connection:
        return sqlite3.connect(file, isolation_level=None, timeout=self._busy_s, uri=isinstance(file, str))

    def _copied(self) -> sqlite3.Connection:
        memory = sqlite3.connect(":memory:", isolation_level=None)
        weakref.finalize(self, memory.close)
        if self._file is not None:
            with suppress(sqlite3.DatabaseError), closing(self._opened(f"{self._file.as_uri()}?mode=ro")) as index:
                index.execute("select key from records where live limit 1").fetchall()
                index.backup(memory)
        return memory


def _busy() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("other processes keep changing the index of records")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return error
