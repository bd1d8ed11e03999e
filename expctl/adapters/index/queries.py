"""Questions that an index of records answers about names: what there is, what waits, what stands.

Each passes over one of its partial indices (index_schema.py) and reads no row that it doesn't tell of.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from expctl.adapters.index.columns import listed
from expctl.domain.experiment.proposal import Verdict, id_order
from expctl.domain.ledger.status_totals import LAST

EXPERIMENTS = "select name, verdict from live where proposed order by number, name"
TREE = "select tree from live where name = ?"
WAITING = """
select name from live where proposed and (verdict is null or verdict = 'INVALID') order by number, name
"""
SHOWN = "select date, name from live where timed_on = ? and timed_on <> '' order by date desc, number desc, name desc limit 1"
NEWEST = """
select name from live where verdict is not null and not imported order by date desc, number desc, name desc limit ?
"""


def experiments(index: sqlite3.Connection) -> Mapping[str, Verdict | None]:
    """Everything that has a proposal or a record; no verdict without a record."""
    return {name: Verdict(verdict) if verdict else None for name, verdict in index.execute(EXPERIMENTS)}


def trees(index: sqlite3.Connection, ids: Iterable[str]) -> Mapping[str, str]:
    """Experiment -> tree of its folder, where it has one. git would look for each among ten thousand."""
    found = {name: index.execute(TREE, (name,)).fetchone() for name in ids}
    return {name: row[0] for name, row in found.items() if row}


def waiting(index: sqlite3.Connection) -> tuple[str, ...]:
    """Ids of proposals without a verdict about the idea."""
    return tuple(name for (name,) in index.execute(WAITING))


def read_most(index: sqlite3.Connection) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The trees of what waits, and of the records that stand on a target or are among the newest."""
    newest = [name for (name,) in index.execute(NEWEST, (LAST,))]
    shown = {*standing(index).values(), *newest}
    return tuple(trees(index, waiting(index)).values()), tuple(trees(index, sorted(shown)).values())


def standing(index: sqlite3.Connection) -> Mapping[str, str]:
    """Target -> the newest experiment that was timed there."""
    newest = {}
    for (timed_on,) in index.execute("select distinct timed_on from live where timed_on <> ''").fetchall():
        newest[timed_on] = index.execute(SHOWN, (timed_on,)).fetchone()
    ordered = sorted((date, id_order(name), name, timed_on) for timed_on, (date, name) in newest.items())
    return {target: name for _, _, name, timed_on in ordered for target in listed(timed_on)}
