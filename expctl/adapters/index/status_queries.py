"""What an index of records knows of all of them for `status`, and for whoever begins with that."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from expctl.adapters.index.columns import listed
from expctl.adapters.index.epochs import epochs_known
from expctl.adapters.index.queries import NEWEST, standing
from expctl.domain.history.baselines import ImportedBaseline, Landing
from expctl.domain.ledger.status_totals import LAST, StatusTotals

LANDED = "select date, name from live where lands order by date, number, name"
GIVEN = "select target, name, title, given, date from live where given is not null order by target, number, name"
OWED = "select name, debts from live where debts <> '' order by number, name"


def stock(index: sqlite3.Connection) -> StatusTotals:
    """What all records come to, in short."""
    shown = standing(index)
    return StatusTotals(
        epochs=epochs_known(index),
        standing=shown,
        landings=tuple([Landing(date, name) for date, name in index.execute(LANDED)]),
        given=_given(index, shown),
        newest=tuple([name for (name,) in index.execute(NEWEST, (LAST,))])[::-1],
        debts=tuple([(name, flag) for name, flags in index.execute(OWED) for flag in listed(flags)]),
    )


def _given(index: sqlite3.Connection, timed: Iterable[str]) -> tuple[ImportedBaseline, ...]:
    """The last of each target that was not timed here, in the order of ids."""
    last = {}
    for target, name, title, given, date in index.execute(GIVEN):
        last[target] = ImportedBaseline(target=target, id=name, title=title, given=given, date=date)
    return tuple(last[target] for target in sorted(last.keys() - set(timed)))
