"""Questions that an index of records answers, but for whole digests (index_rows.py). Its tables and views: index_making.py."""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from expctl.domain.epochs import Epochs, Measuring, epochs_from
from expctl.domain.experiment import Verdict, id_order
from expctl.domain.ground import Ground
from expctl.domain.ledger_baseline import ImportedBaseline, Landing
from expctl.domain.stock import LAST, Stock

# All at once and narrow: a query for each answer would pass the rows as often, and sort them.
PASSING = """
select date, number, name, target, base, ground, again, timed_on, lands, imported, debts, given is not null
from live where verdict is not null
"""
GIVEN = "select title, given from live where name = ?"
WAITING = "select name from live where proposed and (verdict is null or verdict = ?) order by number, name"
TREE = "select tree from live where name = ?"
EXPERIMENTS = "select name, verdict from live where proposed order by number, name"


class Passed(NamedTuple):
    """A row of PASSING."""

    date: str
    number: int
    name: str
    target: str
    base: str
    ground: int | None
    again: str
    timed_on: str
    lands: int
    imported: int
    debts: str
    is_given: int


def experiments(index: sqlite3.Connection) -> Mapping[str, Verdict | None]:
    """Everything that has a proposal or a record; no verdict without a record."""
    return {name: Verdict(verdict) if verdict else None for name, verdict in index.execute(EXPERIMENTS)}


def trees(index: sqlite3.Connection, ids: Iterable[str]) -> Mapping[str, str]:
    """Experiment -> tree of its folder, where it has one. git would look for each among ten thousand."""
    found = {name: index.execute(TREE, (name,)).fetchone() for name in ids}
    return {name: row[0] for name, row in found.items() if row}


def waiting(index: sqlite3.Connection) -> tuple[str, ...]:
    """Ids of proposals without a verdict about the idea."""
    return _names(index, WAITING, Verdict.INVALID)


def stock(index: sqlite3.Connection) -> Stock:
    """In one pass over all records, in the order of the branch."""
    rows = sorted(Passed._make(row) for row in index.execute(PASSING))  # by date, then by id
    standing = {target: row.name for row in rows if row.timed_on for target in listed(row.timed_on)}
    owed = sorted((row.number, row.name, row.debts) for row in rows if row.debts)
    return Stock(
        epochs=_epochs(rows, grounds_of(index)),
        standing=standing,
        landings=tuple([Landing(row.date, row.name) for row in rows if row.lands]),
        given=_given(index, [row for row in rows if row.is_given and row.target not in standing]),
        newest=tuple([row.name for row in rows if not row.imported][-LAST:]),
        debts=tuple((name, flag) for _, name, flags in owed for flag in listed(flags)),
    )


def _names(index: sqlite3.Connection, question: str, *parameters: str | int) -> tuple[str, ...]:
    return tuple(name for (name,) in index.execute(question, parameters))


def _given(index: sqlite3.Connection, rows: Iterable[Passed]) -> tuple[ImportedBaseline, ...]:
    """The last of each target in the order of ids."""
    last = {row.target: row for row in sorted(rows, key=lambda row: (row.number, row.name))}
    found = []
    for target, row in sorted(last.items()):
        title, given = index.execute(GIVEN, (row.name,)).fetchone()
        found.append(ImportedBaseline(target=target, id=row.name, title=title, given=given, date=row.date))
    return tuple(found)


def _epochs(rows: Iterable[Passed], grounds: Mapping[int, Ground]) -> Epochs:
    """All epochs, and the last of each target. Of measurements that follow one another on one ground the first will do."""
    found = [Measuring(row.name, row.target, row.date, row.base, grounds[row.ground]) for row in rows if row.ground is not None]
    further = [
        Measuring(row.name, target, date, row.base, ground_of_text(text), True)
        for row in rows
        if row.again
        for target, date, text in listed(row.again)
    ]
    newest: dict[str, Ground] = {}
    turns = []
    for each in sorted([*found, *further], key=lambda each: (each.date, id_order(each.id), each.again)) if further else found:
        if newest.get(each.target) is not each.ground:
            newest[each.target] = each.ground
            turns.append(each)
    return epochs_from(turns)


def grounds_of(index: sqlite3.Connection) -> dict[int, Ground]:
    """Number -> ground."""
    return {number: ground_of_text(text) for number, text in index.execute("select number, text from grounds")}


@functools.lru_cache(maxsize=4096)
def ground_of_text(text: str) -> Ground:
    """The ground that a text of `index_rows.ground_text` stands for."""
    protocol, parts = json.loads(text)
    return Ground(protocol=protocol, parts=dict(parts))


@functools.lru_cache(maxsize=4096)  # most records say the same things
def listed(text: str) -> Any:
    """The tuple that a column holds as JSON."""
    return _tuples(json.loads(text)) if text else ()


def _tuples(plain: Any) -> Any:
    return tuple(map(_tuples, plain)) if isinstance(plain, list) else plain
