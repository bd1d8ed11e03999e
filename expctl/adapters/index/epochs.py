"""Store epochs in the index and read them. They are computed anew at each update of the index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

import msgspec

from expctl.adapters.index.columns import grounds_of
from expctl.domain.history.comparability import Comparability
from expctl.domain.history.epochs import Epoch, Epochs, Measuring, epochs_from

EARLIEST = "select min(date) from measurings indexed by measured where live and name = ?"
# A turn is a measurement not comparable with the one before on its target; epochs begin at turns alone.
TURNS = """
select name, target, date, base, ground, again from measurings where live and turn and date < ?
order by date, number, name, again
"""
SINCE = """
select name, target, date, base, ground, again, rowid, turn from measurings where live and date >= ?
order by date, number, name, again
"""
TURNED = "update measurings set turn = ? where rowid = ?"
NUMBERED = "update records indexed by folders set epoch = ? where name = ? and live and epoch is not ?"


def read_epochs(index: sqlite3.Connection) -> Epochs:
    """Read all epochs (stretches of comparable figures), but leave `Epochs.of` (experiment -> epoch) empty to save time."""
    rows = index.execute("select used, text from epochs order by number").fetchall()
    found = [(at, msgspec.json.decode(text, type=Epoch)) for at, text in rows]
    used: dict[str, tuple[Epoch, ...]] = {}
    for _, each in sorted(found, key=lambda one: one[0]):
        used[each.target] = (*used.get(each.target, ()), each)
    return Epochs(all=tuple([each for _, each in found]), used=used)


def epoch_of(index: sqlite3.Connection, name: str) -> Epoch | None:
    """Return the epoch (stretch of comparable figures) in which the experiment `name` was measured; None if it never was."""
    key = index.execute("select target, epoch from live where name = ?", (name,)).fetchone()
    return next((each for each in read_epochs(index).all if (each.target, each.number) == key), None)


def first_date(index: sqlite3.Connection, names: Iterable[str]) -> str:
    """Return the earliest date on which one of the experiments `names` was measured. If none was, `~`, which sorts after all
    dates.
    """
    found = (index.execute(EARLIEST, (name,)).fetchone()[0] for name in names)
    return min((date for date in found if date is not None), default="~")


def fold_epochs(index: sqlite3.Connection, *, since: str) -> None:
    """Compute and store all epochs (stretches of comparable figures) anew. Call it after a change among the measurements dated
    `since` or later ("": any).
    """
    grounds = grounds_of(index)
    before = _measurings(index.execute(TURNS, (since,)), grounds)
    rows = index.execute(SINCE, (since,)).fetchall()
    later = _measurings((row[:6] for row in rows), grounds)
    _mark_turns(index, before, zip(later, [row[6:] for row in rows], strict=True))
    epochs = epochs_from((*before, *later))
    named = ((epochs.of[each.id].number, each.id) for each in later if not each.again)
    index.executemany(NUMBERED, ((number, name, number) for number, name in named))
    index.execute("delete from epochs")
    rows = [
        (number, epochs.used[each.target].index(each), msgspec.json.encode(each, order="deterministic").decode())
        for number, each in enumerate(epochs.all)
    ]
    index.executemany("insert into epochs values (?, ?, ?)", rows)


def _mark_turns(
    index: sqlite3.Connection, before: Iterable[Measuring], later: Iterable[tuple[Measuring, tuple[int, int]]]
) -> None:
    grounds = {each.target: each.conditions for each in before}
    wrong = []
    for each, (row, known) in later:
        turns = grounds.get(each.target) is not each.conditions
        grounds[each.target] = each.conditions
        if turns != bool(known):
            wrong.append((turns, row))
    index.executemany(TURNED, wrong)


def _measurings(rows: Iterable[tuple[str, str, str, str, int, int]], grounds: Mapping[int, Comparability]) -> list[Measuring]:
    return [Measuring(name, on, date, base, grounds[ground], again == 1) for name, on, date, base, ground, again in rows]
