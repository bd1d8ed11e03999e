"""Query the index of records for the totals that `status` and the ledger show."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from expctl.adapters.index.columns import json_tuple
from expctl.adapters.index.epochs import read_epochs
from expctl.adapters.index.queries import NEWEST, standing
from expctl.domain.history.baselines import ImportedBaseline, Landing
from expctl.domain.history.epochs import Epoch, Epochs
from expctl.domain.ledger.status_totals import LAST, StatusTotals

LANDED = "select date, name from live where lands order by date, number, name"
GIVEN = "select target, name, title, given, date from live where given is not null order by target, number, name"
EPOCH_OF = "select target, epoch from live where name = ?"
OWED = "select name, debts from live where debts <> '' order by number, name"


def status_totals(index: sqlite3.Connection) -> StatusTotals:
    """Return the totals over all records that the command `status` shows."""
    shown, epochs = standing(index), read_epochs(index)
    return StatusTotals(
        epochs=replace(epochs, of=_epochs_of(index, epochs, shown.values())),
        standing=shown,
        landings=tuple([Landing(date, name) for date, name in index.execute(LANDED)]),
        given=_given(index, shown),
        newest=tuple([name for (name,) in index.execute(NEWEST, (LAST,))])[::-1],
        debts=tuple([(name, flag) for name, flags in index.execute(OWED) for flag in json_tuple(flags)]),
    )


def _given(index: sqlite3.Connection, timed: Iterable[str]) -> tuple[ImportedBaseline, ...]:
    last = {}
    for target, name, title, given, date in index.execute(GIVEN):
        last[target] = ImportedBaseline(target=target, id=name, title=title, given=given, date=date)
    return tuple(last[target] for target in sorted(last.keys() - set(timed)))


def _epochs_of(index: sqlite3.Connection, epochs: Epochs, names: Iterable[str]) -> Mapping[str, Epoch]:
    numbered = {(each.target, each.number): each for each in epochs.all}
    found = {name: numbered.get(index.execute(EPOCH_OF, (name,)).fetchone()) for name in names}
    return {name: epoch for name, epoch in found.items() if epoch is not None}
