"""What the ledger asks of the index of records: sums over all of them, and its long tables in pieces."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from expctl.adapters.index.columns import listed
from expctl.adapters.index.schema import part_of
from expctl.adapters.index.status_queries import stock
from expctl.domain.experiment.predictions import Accuracy, optimism
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.history.epochs import Epoch, Epochs
from expctl.domain.ledger.epoch_lines import Border, Place, borders_between
from expctl.domain.ledger.remarks import Debt, passes_of, remarks
from expctl.domain.ledger.rows import DrawnPiece, Line, Piece, PieceLines, Widths
from expctl.domain.ledger.totals import BanState, Count, LedgerTotals

if TYPE_CHECKING:
    from expctl.adapters.index.record_index import RecordIndex
    from expctl.domain.rules.match_levels import WaivedRepeat

COUNTED = """
select target, verdict, imported, count(*) from live where verdict is not null
group by target, verdict, imported order by target, verdict, imported
"""
ONCE = "select name from live where timed_once order by number, name"
BANNED = "select name, known, lapsed, waits, target, in_epoch from live where known is not null order by number, name"
CORRECTED = "select name, corrections from live where corrections <> '' order by number, name"
NOTED = "select name, notes from live where notes <> '' order by number, name"
UNDECIDED = "select name from live where verdict = 'INCONCLUSIVE' order by number, name"
NUMBERS = "select distinct number from live where verdict is not null order by part, number"
PASSED = "select name, verdict, passes from live where passes <> '' order by number, name"
SCORED = """
select count(*), coalesce(sum(verdict_holds), 0), count(gain_holds), coalesce(sum(gain_holds), 0), coalesce(sum(hoped), 0),
    coalesce(sum(hoped and verdict_holds), 0), count(surplus_percent)
from live where counts
"""
SURPLUS = """
select surplus_percent from live where counts and surplus_percent is not null order by surplus_percent limit ? offset ?
"""
EPOCH_OF = "select target, epoch from live where name = ?"
PLACED = "select name, target, imported, epoch, part from live where verdict is not null order by part, number, name"
HELD = """
select part, group_concat(tree || coalesce(epoch, '')) from (
    select part, tree, epoch from live where verdict is not null order by part, number, name
) group by part order by part
"""
LINES = """
select name, epoch, drawn_row, drawn_forecast, drawn_rule from live join drawn using (key)
where part = ? and verdict is not null order by number, name
"""
DRAWN = "select key, widths, aligned, rules, experiments, forecasts from pieces"


class LedgerShelf:
    """As of one commit."""

    def __init__(self, index: RecordIndex, commit: str) -> None:
        self._index = index
        self._commit = commit

    def sums(self) -> LedgerTotals:
        """What all records come to. Of epochs, it is known of which the records are that show a baseline."""
        return self._index.ask(self._commit, _sums)

    def pieces(self, sums: LedgerTotals) -> tuple[Piece, ...]:
        """The long tables, in the order of ids."""
        return self._index.ask(self._commit, lambda index: tuple(self._pieces(index, sums)))

    def known(self) -> Mapping[str, DrawnPiece]:
        """Pieces that were drawn before, by key."""
        found: list[tuple[Any, ...]] = self._index.look(lambda index: index.execute(DRAWN).fetchall(), [])
        with suppress(ValueError):  # damaged, all are drawn again
            return {key: DrawnPiece(_widths(own), _widths(wide), tuple(texts)) for key, own, wide, *texts in found}
        return {}

    def keep(self, drawn: Mapping[str, DrawnPiece], *, among: Sequence[str]) -> None:
        """Keep these too, and of all no more than those `among`."""
        rows = [(key, json.dumps(each.widths), json.dumps(each.aligned), *each.texts) for key, each in drawn.items()]

        def write(index: sqlite3.Connection) -> None:
            stale = {key for (key,) in index.execute("select key from pieces")} - set(among)
            index.executemany("delete from pieces where key = ?", [(key,) for key in stale])
            index.executemany("insert or replace into pieces values (?, ?, ?, ?, ?, ?)", rows)

        if rows:
            self._index.note(write)

    def _pieces(self, index: sqlite3.Connection, sums: LedgerTotals) -> Iterator[Piece]:
        """A piece says what its records say, with their epochs; where epochs change, and whom its rules let pass."""
        borders, passes = _borders(index, sums.epochs), _by_part(sums.passes)
        for part, held in index.execute(HELD).fetchall():
            here, through = tuple(borders.get(part, ())), passes.get(part, {})
            said = f"{held} {here} {through}"
            yield Piece(sha256(said.encode()).hexdigest(), self._reader(part, here, through))

    def _reader(
        self, part: int, here: tuple[Border, ...], passes: Mapping[str, tuple[WaivedRepeat, ...]]
    ) -> Callable[[], PieceLines]:
        return lambda: self._index.ask(self._commit, lambda index: _lines(index, part, here, passes))


def _borders(index: sqlite3.Connection, epochs: Epochs) -> Mapping[int, list[Border]]:
    """Part -> the borders in it."""
    numbered = {(each.target, each.number): each for each in epochs.all}
    parts: dict[str, int] = {}
    places = []
    above: dict[str, tuple[int, int | None]] = {}
    for name, target, imported, epoch, part in index.execute(PLACED):
        if above.get(target) != (imported, epoch):  # of rows that follow one another in one epoch the first will do
            above[target] = (imported, epoch)
            parts[name] = part
            places.append(Place(name, target, imported == 1, numbered.get((target, epoch))))
    found: dict[int, list[Border]] = {}
    for border in borders_between(places):
        found.setdefault(parts[border.before], []).append(border)
    return found


def _by_part(passes: Mapping[str, tuple[WaivedRepeat, ...]]) -> Mapping[int, dict[str, tuple[WaivedRepeat, ...]]]:
    """Part of the rule -> those that it let pass."""
    found: dict[int, dict[str, tuple[WaivedRepeat, ...]]] = {}
    for name in sorted(passes):
        found.setdefault(part_of(name), {})[name] = passes[name]
    return found


def _lines(
    index: sqlite3.Connection, part: int, here: tuple[Border, ...], passes: Mapping[str, tuple[WaivedRepeat, ...]]
) -> PieceLines:
    rows = index.execute(LINES, (part,)).fetchall()
    return PieceLines(
        rows=tuple([Line(name, row, epoch or 0) for name, epoch, row, _, _ in rows]),
        borders=here,
        forecasts=tuple([Line(name, forecast) for name, _, _, forecast, _ in rows if forecast]),
        rules=tuple([Line(name, rule, waived=passes.get(name, ())) for name, _, _, _, rule in rows if rule]),
    )


def _sums(index: sqlite3.Connection) -> LedgerTotals:
    found = stock(index)
    return LedgerTotals(
        epochs=replace(found.epochs, of=_epochs_of(index, found.epochs, found.standing.values())),
        standing=found.standing,
        landings=found.landings,
        given=found.given,
        counts=tuple(
            [Count(target, Verdict(verdict), old == 1, number) for target, verdict, old, number in index.execute(COUNTED)]
        ),
        timed_once=_names(index, ONCE),
        bans=tuple(
            [
                BanState(name, known == 1, lapsed == 1, waits == 1, target, in_epoch == 1)
                for name, known, lapsed, waits, target, in_epoch in index.execute(BANNED)
            ]
        ),
        corrections=remarks(_said(index, CORRECTED)),
        notes=remarks(_said(index, NOTED)),
        undecided=_names(index, UNDECIDED),
        debts=tuple([Debt(id=name, flag=flag) for name, flag in found.debts]),
        passes=passes_of((name, Verdict(verdict), listed(passes)) for name, verdict, passes in index.execute(PASSED)),
        accuracy=_accuracy(index),
        numbers=tuple([number for (number,) in index.execute(NUMBERS)]),
    )


def _epochs_of(index: sqlite3.Connection, epochs: Epochs, names: Iterable[str]) -> Mapping[str, Epoch]:
    numbered = {(each.target, each.number): each for each in epochs.all}
    found = {name: numbered.get(index.execute(EPOCH_OF, (name,)).fetchone()) for name in names}
    return {name: epoch for name, epoch in found.items() if epoch is not None}


def _names(index: sqlite3.Connection, question: str) -> tuple[str, ...]:
    return tuple([name for (name,) in index.execute(question)])


def _said(index: sqlite3.Connection, question: str) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, texts in index.execute(question) for text in listed(texts))


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


def _widths(text: str) -> Widths:
    return tuple(tuple(each) for each in json.loads(text))
