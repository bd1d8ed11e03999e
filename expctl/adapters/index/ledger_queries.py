"""Query the index of records for the ledger: table rows and totals over all records."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from expctl.adapters.index.columns import grounds_of, json_tuple
from expctl.adapters.index.rows import VERDICTS, measurings_of
from expctl.adapters.index.status_queries import status_totals
from expctl.domain.experiment.predictions import Accuracy, optimism
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.ledger.kept_gains import Landed
from expctl.domain.ledger.remarks import Debt, remarks
from expctl.domain.ledger.rows import Row
from expctl.domain.ledger.totals import PREDICTIONS, Count, LedgerRule, LedgerTotals

COUNTED = """
select target, verdict, imported, count(*) from live where verdict is not null
group by target, verdict, imported order by target, verdict, imported
"""
ONCE = "select name from live where by_older_rule order by number, name"
BANNED, RULE = "known is not null", "known, lapsed, target, in_epoch, tried, failed, opens"
CORRECTED = "select name, corrections from live where corrections <> '' order by number, name"
NOTED = "select name, notes from live where notes <> '' order by number, name"
UNDECIDED = "select name from live where verdict = 'INCONCLUSIVE' order by number, name"
NUMBERS = "select distinct number from live where verdict is not null order by number"
SCORED = """
select count(*), coalesce(sum(verdict_holds), 0), count(gain_holds), coalesce(sum(gain_holds), 0), coalesce(sum(hoped), 0),
    coalesce(sum(hoped and verdict_holds), 0), count(surplus_percent)
from live where counts
"""
SURPLUS = """
select surplus_percent from live where counts and surplus_percent is not null order by surplus_percent limit ? offset ?
"""
DECIDED = "verdict is not null"
ROW = "title, target, verdict, imported, date, effect_percent, low_percent, high_percent, figures, why"
LANDED = """
select name, title, target, date, base, again, ground, gains from live where lands order by date, number, name
"""
PREDICTED = "select told from live where told is not null order by number desc, name desc limit ?"

FEW = 100  # records that are read one by one
T = TypeVar("T")
_rows: dict[tuple[str, str], Row] = {}
_rules: dict[tuple[str, str], LedgerRule] = {}
"""By name and tree of the folder: who lands results asks for all of them each time, and one record is new."""


def ledger_totals(index: sqlite3.Connection) -> LedgerTotals:
    """Return all totals and table rows of the ledger. To save time, `epochs.of` (experiment -> epoch) has only the newest
    experiment of each target.
    """
    found = status_totals(index)
    return LedgerTotals(
        epochs=found.epochs,
        standing=found.standing,
        landings=found.landings,
        landed=_landed(index),
        given=found.given,
        counts=tuple(
            [Count(target, Verdict(verdict), old == 1, number) for target, verdict, old, number in index.execute(COUNTED)]
        ),
        by_older_rule=_names(index, ONCE),
        rows=each_made(index, DECIDED, ROW, _row, _rows),
        rules=each_made(index, BANNED, RULE, _rule, _rules),
        corrections=remarks(_said(index, CORRECTED)),
        notes=remarks(_said(index, NOTED)),
        undecided=_names(index, UNDECIDED),
        debts=tuple([Debt(id=name, flag=flag) for name, flag in found.debts]),
        accuracy=_accuracy(index),
        predictions=tuple([told for (told,) in index.execute(PREDICTED, (PREDICTIONS,))]),
        numbers=tuple([number for (number,) in index.execute(NUMBERS)]),
    )


def each_made(
    index: sqlite3.Connection, which: str, columns: str, make: Callable[[tuple[Any, ...]], T], kept: dict[tuple[str, str], T]
) -> tuple[T, ...]:
    """Return what is made of these columns of records, in order of id. What is `kept` is of the same name and tree, so of the
    same record; one that isn't committed has no tree.
    """
    keys = index.execute(f"select name, tree from live where {which} order by number, name").fetchall()  # noqa: S608  our own
    found = {key: kept.get(key) for key in keys}
    missing = [key for key, known in found.items() if known is None]
    asked = f"select name, tree, {columns} from live where {which}"  # noqa: S608
    if len(missing) > FEW:
        found.update({row[:2]: make((row[0], *row[2:])) for row in index.execute(asked)})
    for key in missing if len(missing) <= FEW else ():
        found[key] = make((key[0], *index.execute(f"{asked} and name = ? and tree = ?", key).fetchone()[2:]))
    if len(kept) > 2 * len(keys) + FEW:
        kept.clear()
    made = {key: each for key, each in found.items() if each is not None}
    kept.update({key: made[key] for key in missing if key[1]})
    return tuple(made.values())


def _rule(columns: tuple[Any, ...]) -> LedgerRule:
    name, known, lapsed, target, in_epoch, *words = columns
    return LedgerRule(name, known == 1, lapsed == 1, target, in_epoch == 1, *words)


def _row(columns: tuple[Any, ...]) -> Row:
    name, title, target, verdict, imported, date, effect, low, high, given, why = columns
    return Row(
        id=name,
        title=title,
        target=target,
        verdict=VERDICTS[verdict],
        imported=imported == 1,
        date=date,
        effect_percent=effect,
        low_percent=low,
        high_percent=high,
        given=given,
        why=why,
    )


def _landed(index: sqlite3.Connection) -> tuple[Landed, ...]:
    grounds = grounds_of(index)
    return tuple(
        [
            Landed(
                name, title, target, measurings_of((name, target, date, base, again), grounds.get(ground)), json_tuple(gains)
            )
            for name, title, target, date, base, again, ground, gains in index.execute(LANDED).fetchall()
        ]
    )


def _names(index: sqlite3.Connection, question: str) -> tuple[str, ...]:
    return tuple([name for (name,) in index.execute(question)])


def _said(index: sqlite3.Connection, question: str) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, texts in index.execute(question) for text in json_tuple(texts))


def _accuracy(index: sqlite3.Connection) -> Accuracy:
    verdicts, verdict_hits, gains, gain_hits, keeps, keep_hits, surplus = index.execute(SCORED).fetchone()
    middle = index.execute(SURPLUS, (2 - surplus % 2, (surplus - 1) // 2)).fetchall() if surplus else []
    return Accuracy(
        verdicts=verdicts,
        verdict_hits=verdict_hits,
        gains=gains,
        gain_hits=gain_hits,
        keeps=keeps,
        keep_hits=keep_hits,
        optimism_percent=optimism([percent for (percent,) in middle]),
    )
