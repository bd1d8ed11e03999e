"""Build the index of records, or change it from one git tree of `experiments/` to another."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from expctl.adapters.index.epochs import first_date, fold_epochs
from expctl.adapters.index.parallel import parallel_map
from expctl.adapters.index.rows import GROUND
from expctl.adapters.index.schema import COLUMNS, INDICES, TABLES
from expctl.adapters.index.summarise import Folder, FolderSummary, Summariser
from expctl.domain.experiment.ids import ID_PATTERN, id_order

if TYPE_CHECKING:
    from expctl.adapters.git.reader import GitReader

Stamp = tuple[str, str]
"""(stamp of the code that built the index, hash of the tree of `experiments/` whose records are live)."""

Keyed = Sequence[tuple[int, FolderSummary]]

LIVE_AGAIN = "update measurings set live = (select live from records where records.key = measurings.key) where name = ?"
STALE_LEAST = 2000  # up to this many rows of other commits are always kept


def update(index: sqlite3.Connection, git: GitReader, was: Stamp | None, now: Stamp) -> None:
    """Bring an index in memory from stamp `was` (None: it is empty) to stamp `now`. A stamp names the code and the tree of
    records. Raises Refused on a damaged record, with the index unchanged.
    """
    rebuild = was is None or was[0] != now[0]
    if was is None:
        index.execute("pragma page_size = 16384")  # most queries scan many rows
    changed = _differences(index, git, "" if was is None or rebuild else was[1], now[1], rebuild=rebuild)
    # Rows are inserted in id order, so that sorting them when they are read is fast.
    live = sorted(((name, folder) for name, folder in changed.items() if folder), key=lambda each: id_order(each[0]))
    known = set() if rebuild else _known(index, live)
    summarised = parallel_map(Summariser(reader=git).summarise, [each for each in live if each not in known])
    index.execute("begin")
    try:
        if rebuild:
            _create(index)
            _insert(index, summarised)
            _execute(index, INDICES)
            fold_epochs(index, since="")
        else:
            _replace(index, changed, known, summarised)
        index.execute("delete from made")
        index.execute("insert into made values (?, ?)", now)
        _forget_stale(index)
        index.execute("commit")
    finally:
        if index.in_transaction:
            index.execute("rollback")


@contextmanager
def supposing(index: sqlite3.Connection, found: Sequence[FolderSummary]) -> Iterator[None]:
    """Within the block, the index in memory has `found` instead of what it has of those folders."""
    index.execute("begin")
    try:
        _replace(index, [each.folder[0] for each in found], (), found)
        yield
    finally:
        index.execute("rollback")


def _replace(
    index: sqlite3.Connection, changed: Collection[str], known: Iterable[Folder], summarised: Iterable[FolderSummary]
) -> None:
    before = first_date(index, changed)
    index.executemany("update records set live = 0 where name = ? and live", [(name,) for name in changed])
    index.executemany("update records set live = 1 where name = ? and tree = ?", known)
    _insert(index, summarised)
    index.executemany(LIVE_AGAIN, [(name,) for name in changed])
    fold_epochs(index, since=min(before, first_date(index, changed)))


def _differences(index: sqlite3.Connection, git: GitReader, old: str, tree: str, *, rebuild: bool) -> Mapping[str, str]:
    changed = git.changed_folders(old, tree) if old and tree else None
    if changed is None:
        found = git.folders_of(tree) if tree else {}
        before = {} if rebuild else dict(index.execute("select name, tree from records where live").fetchall())
        names = found.keys() | before.keys()
        changed = {name: found.get(name, "") for name in names if found.get(name) != before.get(name)}
    return {name: folder for name, folder in changed.items() if ID_PATTERN.fullmatch(name)}


def _known(index: sqlite3.Connection, folders: Iterable[Folder]) -> set[Folder]:
    wanted = "select name, tree from records where name = ? and tree = ?"
    return {each for each in folders if index.execute(wanted, each).fetchone()}


def _create(index: sqlite3.Connection) -> None:
    for kind, name in index.execute("select type, name from sqlite_master where type in ('view', 'table')").fetchall():
        index.execute(f"drop {kind} {name}")
    _execute(index, TABLES)


def _execute(index: sqlite3.Connection, statements: str) -> None:
    for statement in statements.split(";"):
        index.execute(statement)


def _insert(index: sqlite3.Connection, summarised: Iterable[FolderSummary]) -> None:
    last = index.execute("select coalesce(max(key), 0) from records").fetchone()[0]
    keyed = list(enumerate(summarised, start=last + 1))
    numbers = _ground_numbers(index, keyed)
    index.executemany(_into("records", 6 + len(COLUMNS)), _rows(keyed, numbers))
    index.executemany(_into("measurings", 10), _measurings(keyed, numbers))
    index.executemany(_into("words", 2), [(word, key) for key, each in keyed for word in each.words])
    index.executemany(_into("patterns", 2), [(one, key) for key, each in keyed for one in each.patterns])
    index.executemany(_into("holds", 2), [(key, each.hold) for key, each in keyed if each.hold])


def _into(table: str, columns: int) -> str:
    return f"insert into {table} values ({', '.join('?' * columns)})"  # noqa: S608  our own names


def _ground_numbers(index: sqlite3.Connection, keyed: Keyed) -> Mapping[str, int]:
    numbers: dict[str, int] = dict(index.execute("select text, number from grounds").fetchall())
    known = len(numbers)
    for _, each in keyed:
        for measuring in each.measurings:
            numbers.setdefault(measuring.ground, len(numbers))
    index.executemany("insert into grounds values (?, ?)", [(number, text) for text, number in [*numbers.items()][known:]])
    return numbers


def _rows(keyed: Keyed, numbers: Mapping[str, int]) -> Iterator[tuple[object, ...]]:
    for key, each in keyed:
        name, tree = each.folder
        number = id_order(name)[0]
        row = each.row or (name, number, *(None,) * (len(COLUMNS) - 2))
        ground = numbers.get(row[GROUND])
        yield (key, tree, 1, each.ruled, each.proposed, None, *row[:GROUND], ground, *row[GROUND + 1 :])


def _measurings(keyed: Keyed, numbers: Mapping[str, int]) -> Iterator[tuple[object, ...]]:
    for key, each in keyed:
        name, _ = each.folder
        for at, one in enumerate(each.measurings):
            yield (key, 1, one.target, one.date, id_order(name)[0], name, at > 0, 0, one.base, numbers[one.ground])


def _forget_stale(index: sqlite3.Connection) -> None:
    # Until rows of other commits outnumber those of this one, they make switching branches fast.
    live, stale = index.execute("select coalesce(sum(live), 0), coalesce(sum(not live), 0) from records").fetchone()
    if stale <= max(STALE_LEAST, live):
        return
    index.execute("delete from records where not live")
    for name in ("measurings", "words", "patterns", "holds"):
        index.execute(f"delete from {name} where key not in (select key from records)")  # noqa: S608  our own names
