"""Making the index of records, and bringing it from one tree of `experiments/` to another."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from expctl.adapters.forked import in_parts
from expctl.adapters.index_rows import COLUMNS, GROUND, LINES
from expctl.adapters.record_index import made_of
from expctl.adapters.reduction import Draw, Folder, Reduced, Reduction
from expctl.domain.experiment import ID_PATTERN, id_order

if TYPE_CHECKING:
    from expctl.adapters.git_reader import GitReader

Made = tuple[str, str]
"""What an index belongs to: the code that made it, and a tree of `experiments/`."""

STALE_LEAST = 2000  # rows of other commits that are kept in any case
ALL = ", ".join(COLUMNS)
# Of who wants the lines of the ledger, none wants the sentences of the brief.
UNSAID = ", ".join(f"'' as {each}" if each in ("told", "ban", "forbids", "reason") else each for each in COLUMNS)
# `live` are the records of the tree that the index belongs to; a row without a verdict is a folder without a record.
SCHEMA = f"""
create table made (code text, tree text);
create table grounds (number integer primary key, text text unique);
create table records (key integer primary key, tree text, live integer, ruled integer, proposed integer, {ALL});
create unique index folders on records (name, tree);
create table drawn (key integer primary key, {", ".join(LINES)});
create table words (word text, key integer);
create index found on words (word);
create table patterns (pattern text, key integer);
create table documents (place text, bytes blob, plain text, primary key (place, bytes)) without rowid;
create view live as select * from records where live;
create view digests as select {ALL} from live where verdict is not null;
create view drawn_digests as
    select {UNSAID}, {", ".join(LINES)} from live join drawn using (key) where verdict is not null;
"""  # noqa: S608  our own names


def bring(index: sqlite3.Connection, git: GitReader, draw: Draw | None, was: Made | None, now: Made) -> None:
    """Bring an index that belongs to `was` (None: it is empty) to `now`, unless somebody else has changed it meanwhile.

    Nothing is locked while records are read. Raises Refused on a record that is damaged.
    """
    anew = was is None or was[0] != now[0]
    if was is None:
        index.execute("pragma page_size = 16384")  # most questions pass over all rows
    changed = _differences(index, git, "" if was is None or anew else was[1], now[1], anew=anew)
    # In the order of ids, so that rows lie in it and are soon sorted when they are read.
    live = sorted(((name, folder) for name, folder in changed.items() if folder), key=lambda each: id_order(each[0]))
    known = set() if anew else _known(index, live)
    reduced = in_parts(Reduction(reader=git, draw=draw).of, [each for each in live if each not in known])
    index.execute("begin immediate")
    try:
        if made_of(index) != was:
            return
        if anew:
            _create(index)
        _insert(index, reduced)
        index.executemany("update records set live = 0 where name = ? and live", [(name,) for name in changed])
        index.executemany("update records set live = 1 where name = ? and tree = ?", live)
        index.execute("delete from made")
        index.execute("insert into made values (?, ?)", now)
        _forget_stale(index)
        index.execute("commit")
    finally:
        if index.in_transaction:
            index.execute("rollback")


def _differences(index: sqlite3.Connection, git: GitReader, old: str, tree: str, *, anew: bool) -> Mapping[str, str]:
    """Experiment -> tree of its folder, of all that aren't live as they are in `tree`; empty where there is none any more."""
    changed = git.changed_folders(old, tree) if old and tree else None
    if changed is None:
        found = git.folders_of(tree) if tree else {}
        before = {} if anew else dict(index.execute("select name, tree from records where live").fetchall())
        names = found.keys() | before.keys()
        changed = {name: found.get(name, "") for name in names if found.get(name) != before.get(name)}
    return {name: folder for name, folder in changed.items() if ID_PATTERN.fullmatch(name)}


def _known(index: sqlite3.Connection, folders: Iterable[Folder]) -> set[Folder]:
    wanted = "select name, tree from records where name = ? and tree = ?"
    return {each for each in folders if index.execute(wanted, each).fetchone()}


def _create(index: sqlite3.Connection) -> None:
    for kind, name in index.execute("select type, name from sqlite_master where type in ('view', 'table')").fetchall():
        index.execute(f"drop {kind} {name}")
    for statement in SCHEMA.split(";"):
        index.execute(statement)


def _insert(index: sqlite3.Connection, reduced: Iterable[Reduced]) -> None:
    last = index.execute("select coalesce(max(key), 0) from records").fetchone()[0]
    keyed = list(enumerate(reduced, start=last + 1))
    marks = ", ".join("?" * (5 + len(COLUMNS)))
    index.executemany(f"insert into records values ({marks})", _rows(index, keyed))  # noqa: S608  question marks
    drawn = [(key, *each.lines) for key, each in keyed if each.lines is not None]
    index.executemany("insert into drawn values (?, ?, ?, ?)", drawn)
    index.executemany("insert into words values (?, ?)", [(word, key) for key, each in keyed for word in each.words])
    index.executemany("insert into patterns values (?, ?)", [(one, key) for key, each in keyed for one in each.patterns])


def _rows(index: sqlite3.Connection, keyed: Iterable[tuple[int, Reduced]]) -> Iterator[tuple[object, ...]]:
    """Grounds become numbers."""
    numbers: dict[str, int] = dict(index.execute("select text, number from grounds").fetchall())
    for key, each in keyed:
        name, tree = each.folder
        row = each.row or (name, id_order(name)[0], *(None,) * (len(COLUMNS) - 2))
        text = row[GROUND]
        if text is not None and text not in numbers:
            numbers[text] = len(numbers)
            index.execute("insert into grounds values (?, ?)", (numbers[text], text))
        yield (key, tree, 0, each.ruled, each.proposed, *row[:GROUND], numbers.get(text), *row[GROUND + 1 :])


def _forget_stale(index: sqlite3.Connection) -> None:
    """Rows of other commits save reading when a branch comes back, up to a limit."""
    live, stale = index.execute("select coalesce(sum(live), 0), coalesce(sum(not live), 0) from records").fetchone()
    if stale <= max(STALE_LEAST, live):
        return
    index.execute("delete from records where not live")
    for name in ("drawn", "words", "patterns"):
        index.execute(f"delete from {name} where key not in (select key from records)")  # noqa: S608  our own names
