"""Every record of a commit in short, in a SQLite file of the state folder, so that a command reads what it shows and no more.

It is a cache and may be deleted at any time: it holds nothing that is not in git. What stands for a record is the tree of its
folder, and `experiments/` as a whole is known by its tree, so that for another commit only the folders that differ are read.
A file that is damaged or was made by other code is made again; one that can't be written is copied to memory and left alone.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from expctl import adapters, domain, views
from expctl.adapters.forked import in_parts
from expctl.adapters.index_rows import COLUMNS, GROUND, LINES
from expctl.adapters.reduction import EXPERIMENTS, Draw, Folder, Reduced, Reduction
from expctl.domain.experiment import ID_PATTERN, id_order

if TYPE_CHECKING:
    from expctl.adapters.git_reader import GitReader

T = TypeVar("T")

BUSY_S = 3.0
TRIES = 3
STALE_LEAST = 2000  # rows of other commits that are kept in any case
# The file is sound, but this process can't have it: somebody else writes it, or nobody may.
UNAVAILABLE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
}
SCHEMA = f"""
create table made (code text, tree text);
create table grounds (number integer primary key, text text unique);
create table records (key integer primary key, tree text, live integer, ruled integer, proposed integer, {", ".join(COLUMNS)});
create unique index folders on records (name, tree);
create table drawn (key integer primary key, {", ".join(LINES)});
create table words (word text, key integer);
create index found on words (word);
create table patterns (pattern text, key integer);
create view live as select * from records where live;
create view digests as select {", ".join(COLUMNS)} from live where verdict is not null order by number, name;
create view drawn_digests as
    select {", ".join((*COLUMNS, *LINES))} from live join drawn using (key) where verdict is not null order by number, name;
"""  # noqa: S608  our own names


def code_stamp() -> str:
    """Stands for the code that reads, reduces and draws (modules by size and time): other code may do it otherwise."""
    modules = [each for room in (adapters, domain, views) for folder in room.__path__ for each in os.scandir(folder)]
    told = sorted((each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in modules if each.name.endswith(".py"))
    return repr((sys.version_info[:3], told))


class RecordIndex:
    """Of one repository. `file` is None for an index in memory; `draw` makes the lines that are kept of each record."""

    def __init__(self, reader: GitReader, file: Path | None, draw: Draw | None = None) -> None:
        self._git = reader
        self._file = file
        self._reduction = Reduction(reader=reader, draw=draw)
        self._memory: sqlite3.Connection | None = None
        self._code = ""

    @property
    def draws(self) -> bool:
        """Are lines kept?"""
        return self._reduction.draw is not None

    def ask(self, commit: str, question: Callable[[sqlite3.Connection], T]) -> T:
        """The answer of an index that holds the records of `commit` as `live`, and no others as such. Raises Refused on a
        record that is damaged.
        """
        tree = self._git.tree_of(commit, EXPERIMENTS)
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

    def _ask_file(self, file: Path, tree: str, question: Callable[[sqlite3.Connection], T]) -> T:
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(file, isolation_level=None, timeout=BUSY_S)) as index:
            return self._answer(index, tree, question)

    def _answer(self, index: sqlite3.Connection, tree: str, question: Callable[[sqlite3.Connection], T]) -> T:
        """Asked in the transaction in which the index was seen to be of `tree`, for others may bring it to another one."""
        self._code = self._code or code_stamp()
        for _ in range(TRIES):
            index.execute("begin")
            try:
                made = _made(index)
                if made == (self._code, tree):
                    return question(index)
            finally:
                index.execute("rollback")
            self._bring(index, made, tree)
        raise _busy()

    def _copied(self) -> sqlite3.Connection:
        """An index in memory, with what the file holds if that can be read."""
        memory = sqlite3.connect(":memory:", isolation_level=None)
        weakref.finalize(self, memory.close)
        if self._file is not None:
            with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(f"{self._file.as_uri()}?mode=ro", uri=True)) as index:
                index.execute("select key from records where live limit 1").fetchall()
                index.backup(memory)
        return memory

    # ------------------------------------------------------------------ bringing it to another commit

    def _bring(self, index: sqlite3.Connection, made: tuple[str, str] | None, tree: str) -> None:
        """Make the records of `tree` the live ones. Nothing is locked while records are read."""
        anew = made is None or made[0] != self._code
        live, gone = self._difference(index, made[1] if made and not anew else "", tree, anew=anew)
        known = set() if anew else _known(index, live)
        reduced = in_parts(self._reduction.of, [each for each in live if each not in known])
        index.execute("begin immediate")
        try:
            if _made(index) != made:
                return
            if anew:
                _create(index)
            _insert(index, reduced)
            index.executemany("update records set live = 0 where name = ? and live", [(name,) for name in gone])
            index.executemany("update records set live = 1 where name = ? and tree = ?", live)
            index.execute("delete from made")
            index.execute("insert into made values (?, ?)", (self._code, tree))
            _forget_stale(index)
            index.execute("commit")
        finally:
            if index.in_transaction:
                index.execute("rollback")

    def _difference(self, index: sqlite3.Connection, old: str, tree: str, *, anew: bool) -> tuple[list[Folder], Iterable[str]]:
        """(folders that become live, names that no longer are as they were)."""
        changed = self._git.changed_folders(old, tree) if old and tree and not anew else None
        if changed is None:
            found = self._git.folders_of(tree) if tree else {}
            before = {} if anew else dict(index.execute("select name, tree from records where live").fetchall())
            names = found.keys() | before.keys()
            changed = {name: found.get(name, "") for name in names if found.get(name) != before.get(name)}
        ours: Mapping[str, str] = {name: folder for name, folder in changed.items() if ID_PATTERN.fullmatch(name)}
        return [(name, folder) for name, folder in ours.items() if folder], ours.keys()


def _made(index: sqlite3.Connection) -> tuple[str, str] | None:
    """(code, tree) of an index; None of an empty file."""
    if not index.execute("select 1 from sqlite_master limit 1").fetchone():
        return None
    return index.execute("select code, tree from made").fetchone() or ("", "")


def _known(index: sqlite3.Connection, folders: list[Folder]) -> set[Folder]:
    wanted = "select name, tree from records where name = ? and tree = ?"
    return {each for each in folders if index.execute(wanted, each).fetchone()}


def _create(index: sqlite3.Connection) -> None:
    for kind, name in index.execute("select type, name from sqlite_master where type in ('view', 'table')").fetchall():
        index.execute(f"drop {kind} {name}")
    for statement in SCHEMA.split(";"):
        index.execute(statement)


def _insert(index: sqlite3.Connection, reduced: Iterable[Reduced]) -> None:
    numbers: dict[str, int] = dict(index.execute("select text, number from grounds").fetchall())
    marks = ", ".join("?" * (5 + len(COLUMNS)))
    last = index.execute("select coalesce(max(key), 0) from records").fetchone()[0]
    empty = (None,) * (len(COLUMNS) - 2)
    for key, each in enumerate(reduced, start=last + 1):
        row = each.row or (each.folder[0], id_order(each.folder[0])[0], *empty)
        text = row[GROUND]
        if text is not None and text not in numbers:
            numbers[text] = len(numbers)
            index.execute("insert into grounds values (?, ?)", (numbers[text], text))
        row = (*row[:GROUND], numbers.get(text), *row[GROUND + 1 :])
        index.execute(
            f"insert into records values ({marks})",  # noqa: S608  question marks
            (key, each.folder[1], 0, each.ruled, each.proposed, *row),
        )
        if each.lines is not None:
            index.execute("insert into drawn values (?, ?, ?, ?)", (key, *each.lines))
        index.executemany("insert into words values (?, ?)", [(word, key) for word in each.words])
        index.executemany("insert into patterns values (?, ?)", [(pattern, key) for pattern in each.patterns])


def _forget_stale(index: sqlite3.Connection) -> None:
    """Rows of other commits save reading when a branch comes back, up to a limit."""
    live, stale = index.execute("select coalesce(sum(live), 0), coalesce(sum(not live), 0) from records").fetchone()
    if stale <= max(STALE_LEAST, live):
        return
    index.execute("delete from records where not live")
    for name in ("drawn", "words", "patterns"):
        index.execute(f"delete from {name} where key not in (select key from records)")  # noqa: S608  our own names


def _busy() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("the index is brought to another commit all the time")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return error
