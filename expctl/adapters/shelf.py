"""Questions that an index of records answers, but for whole digests (index_rows.py). Its tables and views: index_making.py."""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from expctl.domain.epochs import Epochs, Measuring, epochs_from
from expctl.domain.experiment import Verdict
from expctl.domain.ground import Ground
from expctl.domain.ledger_baseline import ImportedBaseline, Landing
from expctl.domain.stock import LAST, Stock

# The newest of those that were timed on the same targets; there may be several such sets of targets.
TIMED = """
select timed_on, name from (
    select *, row_number() over (partition by timed_on order by date desc, number desc, name desc) as place
    from live where timed_on != ''
) where place = 1 order by date, number, name
"""
LANDED = "select date, name from live where lands order by date, number, name"
NEWEST = "select name from live where not imported order by date desc, number desc, name desc limit ?"
OWED = "select name, debts from live where debts != '' order by number, name"
GIVEN = "select target, name, title, given, date from live where given is not null order by number, name"
MEASURED = "select date, number, name, 0, target, base, ground, again from live where ground is not null"
WAITING = "select name from live where proposed and (verdict is null or verdict = ?) order by number, name"
TREE = "select tree from live where name = ?"
EXPERIMENTS = "select name, verdict from live where proposed order by number, name"


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
    """Of the rows only what the answer has."""
    standing = {target: name for targets, name in index.execute(TIMED).fetchall() for target in listed(targets)}
    return Stock(
        epochs=_epochs(index),
        standing=standing,
        landings=tuple(Landing(date, name) for date, name in index.execute(LANDED)),
        given=_given(index, standing),
        newest=_names(index, NEWEST, LAST)[::-1],
        debts=tuple((name, flag) for name, flags in index.execute(OWED) for flag in listed(flags)),
    )


def _names(index: sqlite3.Connection, question: str, *parameters: str | int) -> tuple[str, ...]:
    return tuple(name for (name,) in index.execute(question, parameters))


def _given(index: sqlite3.Connection, standing: Mapping[str, str]) -> tuple[ImportedBaseline, ...]:
    last = {row[0]: row for row in index.execute(GIVEN) if row[0] not in standing}
    return tuple(
        ImportedBaseline(target=target, id=name, title=title, given=given, date=date)
        for target, name, title, given, date in (last[target] for target in sorted(last))
    )


def _epochs(index: sqlite3.Connection) -> Epochs:
    """All epochs, and the last of each target. Of measurements that follow one another on one ground the first will do."""
    rows, grounds = index.execute(MEASURED).fetchall(), grounds_of(index)
    further = [
        (date, number, name, 1, target, base, ground_of_text(text), "")
        for _, number, name, _, _, base, _, again in rows
        for target, date, text in listed(again)
    ]
    newest: dict[str, Ground] = {}
    turns = []
    for date, _, name, again, target, base, ground, _ in sorted([*rows, *further], key=lambda row: row[:4]):
        stands_on = ground if again else grounds[ground]
        if newest.get(target) is not stands_on:
            newest[target] = stands_on
            turns.append(Measuring(name, target, date, base, stands_on, again == 1))
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
