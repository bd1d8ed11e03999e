"""Query the index of records for experiment ids. Each query scans one partial index (schema.py) and reads no other row."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from expctl.adapters.index.columns import json_tuple
from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.proposal import Verdict
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
    """Return every experiment's id -> its verdict (None without a record), in order of id."""
    return {name: Verdict(verdict) if verdict else None for name, verdict in index.execute(EXPERIMENTS)}


def trees(index: sqlite3.Connection, ids: Iterable[str]) -> Mapping[str, str]:
    """Return experiment -> git tree id of its folder, for those of `ids` that have a folder. Faster than asking git."""
    found = {name: index.execute(TREE, (name,)).fetchone() for name in ids}
    return {name: row[0] for name, row in found.items() if row}


def waiting(index: sqlite3.Connection) -> tuple[str, ...]:
    """Return the ids of proposals to be run: without a verdict, or INVALID (the machine failed); in order of id."""
    return tuple(name for (name,) in index.execute(WAITING))


def trees_to_read_ahead(index: sqlite3.Connection) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the git tree ids of folders that a command will probably read: (those of waiting proposals, of newest records).
    The newest records are the last few of all and the last one timed on each target.
    """
    newest = [name for (name,) in index.execute(NEWEST, (LAST,))]
    shown = {*standing(index).values(), *newest}
    return tuple(trees(index, waiting(index)).values()), tuple(trees(index, sorted(shown)).values())


def standing(index: sqlite3.Connection) -> Mapping[str, str]:
    """Return target -> id of the newest experiment timed on it; the target whose newest experiment is oldest comes first."""
    newest = {}
    for (timed_on,) in index.execute("select distinct timed_on from live where timed_on <> ''").fetchall():
        newest[timed_on] = index.execute(SHOWN, (timed_on,)).fetchone()
    ordered = sorted((date, id_order(name), name, timed_on) for timed_on, (date, name) in newest.items())
    return {target: name for _, _, name, timed_on in ordered for target in json_tuple(timed_on)}
