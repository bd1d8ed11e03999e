"""Cache a summary of every record of a commit in a SQLite file of the state folder, so that commands read few records.

The file may be deleted at any time. Records are identified by their folder's git tree, so a change of commit reads only the
folders that differ. The file is sealed: nothing in it is believed before its hash is right. One that is damaged is thrown away
and made again from git; it is replaced as a whole, so no process ever sees another one's half-done change.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from expctl.adapters.git.reader import EXPERIMENTS
from expctl.adapters.index.stamp import code_stamp, stamp_of
from expctl.files import sealed_file

if TYPE_CHECKING:
    import sqlite3

    from expctl.adapters.git.reader import GitReader

T = TypeVar("T")

STORED_EVERY = 32
"""A process that brings the index to many commits in turn writes its file at the first and at every 32nd, because each writing
is of the whole index. The next process reads the few experiment folders that changed since the commit in the file."""


class RecordIndex:
    """The index of one repository's records in `file`, or only in memory if that is None. `told` gets a sentence when a damaged
    file is thrown away.
    """

    def __init__(self, reader: GitReader, file: Path | None, *, told: Callable[[str], None] = lambda _: None) -> None:
        self._git = reader
        self._file = file
        self._told = told
        self._index: sqlite3.Connection | None = None  # of the sound file, or in memory and newer
        self._in_memory = False
        self._code = ""
        self._updates = 0
        self._trees: dict[str, str] = {}

    def ask(self, commit: str, question: Callable[[sqlite3.Connection], T]) -> T:
        """Bring the index to the records in `commit`, call `question` on it and return its result. Raises Refused on a damaged
        record.
        """
        tree = self._trees.get(commit) or self._git.tree_of(commit, EXPERIMENTS)
        self._trees[commit] = tree
        index, wanted = self._opened(), (self._stamp(), tree)
        stamp = stamp_of(index)
        if stamp != wanted:
            from expctl.adapters.index.build import update

            index = self._writable()
            update(index, self._git, stamp, wanted)
            if self._updates % STORED_EVERY == 0:
                self._store(index)
            self._updates += 1
        return question(index)

    def suppose(self, commit: str, records: Mapping[str, bytes], question: Callable[[sqlite3.Connection], T]) -> T:
        """Return the answer of `ask` for a commit upon `commit` that has these `records` too: experiment -> bytes."""
        from expctl.adapters.index.build import supposing
        from expctl.adapters.index.summarise import summarised

        self.ask(commit, lambda _: None)
        index = self._writable()
        with supposing(index, [summarised((name, ""), text, proposed=True) for name, text in records.items()]):
            return question(index)

    def look(self, question: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Call `question` on the index as it is, without updating it, and return its result. Returns `otherwise` if there is
        none, or one of other code.
        """
        index = self._opened()
        return question(index) if self._is_ours(index) else otherwise

    def note(self, write: Callable[[sqlite3.Connection], None]) -> None:
        """Let `write` change the index and store it; do nothing if it is empty or was built by other code."""
        if self._is_ours(self._opened()):
            index = self._writable()
            write(index)
            self._store(index)

    def _is_ours(self, index: sqlite3.Connection) -> bool:
        stamp = stamp_of(index)
        return stamp is not None and stamp[0] == self._stamp()

    def _stamp(self) -> str:
        self._code = self._code or code_stamp()
        return self._code

    def _opened(self) -> sqlite3.Connection:
        if self._index is not None:
            return self._index
        import sqlite3  # not every command that may ask does

        found = self._read()
        self._in_memory = found is None
        return self._keep(found or sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False))

    def _read(self) -> sqlite3.Connection | None:
        """Open the file; None if there is no sound one. A damaged one is removed, since nobody can use it."""
        if self._file is None:
            return None
        import sqlite3

        with suppress(OSError):
            if sealed_file.is_sound(self._file):
                return sqlite3.connect(
                    f"{self._file.as_uri()}?immutable=1", isolation_level=None, uri=True, check_same_thread=False
                )
            if self._file.is_file():
                self._file.unlink()
                self._told(f"{self._file.name}, a cache of the records, was damaged: it is made again from git")
        return None

    def _writable(self) -> sqlite3.Connection:
        index = self._opened()
        if self._in_memory:
            return index
        import sqlite3

        memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        index.backup(memory)
        index.close()
        self._in_memory = True
        return self._keep(memory)

    def _keep(self, index: sqlite3.Connection) -> sqlite3.Connection:
        self._index = index
        weakref.finalize(self, index.close)
        return index

    def _store(self, index: sqlite3.Connection) -> None:
        if self._file is not None:
            with suppress(OSError):  # no space, no right: this process has it in memory, the next one makes it again
                sealed_file.write(self._file, index.serialize())
