"""Find the column by which a hand-kept ledger decides, and the rows that were decided against it."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.audit.comparisons import LEAST, REPEATS, SMALL, is_baseline, is_excused, is_kept, measured_alike
from expctl.imported.document import Document, Row, Table
from expctl.imported.figures import DIGITS
from expctl.imported.remarks import Flaw, Remark
from expctl.imported.units import Better

BARE = re.compile(rf"[`*\s]*({DIGITS})\s?(?:[^\W\d]\S*|×)?[`*\s]*")
# How many decisions a column must explain, how many of them gains that were kept, and which share of all, before it counts
DECISIONS = 10
GAINS = 3
SHARE = 0.85
# What differs by more percent is of another series, or broken.
FAR = 30.0
# Reasons to reject a gain; that it is small is none where a smaller one was kept.
SMALL_GAIN = re.compile(
    r"\b(?:(?:with)?in (?:the )?noise|noise(?=\W*$)|noisy|marginal\w*|small|tiny|negligible|minor|insignificant"
    r"|no (?:real )?improvement)\b",
    re.IGNORECASE,
)
REASON = re.compile(r"\b(?:but|because|although|though|despite|due|unless)\b|[—–:;(]|\s-\s|->|→", re.IGNORECASE)


class _Kept(NamedTuple):
    """The figure of a kept row, or of the baseline in the first row of its table."""

    line: int
    label: str
    change: str
    text: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decision:
    """A kept or rejected row with its figure `value` in one column, and the figures of `last`, the row kept before it, and of
    the `best` one. `gains` are by how many percent it is better than these two.
    """

    row: Row
    text: str
    last: "_Kept"
    best: "_Kept"
    gains: tuple[float, float]

    @property
    def kept(self) -> bool:
        return is_kept(self.row)

    @property
    def agrees(self) -> bool:
        return self.gains[0] > 0 if self.kept else self.gains[1] <= 0


def against_the_deciding_column(document: Document, rows: Sequence[Row], unread: Collection[int] = ()) -> Iterator[Remark]:
    """Yield a remark on each row that was kept although worse than the row kept before it, or rejected although better than all
    kept ones, in a table where one column else decides: at least 85 % of the rows are kept just where they are better.

    Only differences count that are at least as large as the smallest gain for which a row was kept, and losses from 1 % on.
    `unread` are lines of figures that were not understood: beyond one of them nobody knows what a row was held against.
    """
    for table in document.tables:
        decisions = _deciding(table, [row for row in rows if row.table == table.line])
        least = min((each.gains[0] for each in decisions if each.kept and each.gains[0] >= LEAST), default=FAR)
        for each in decisions:
            if each.agrees or any(each.last.line < line < each.row.line for line in unread):
                continue
            if each.kept:
                yield from _kept(each, max(least, SMALL))
            elif least <= each.gains[1] <= FAR and not _has_reason(each.row):
                text = (
                    f"rejected with {each.text}, {each.gains[1]:.2g} % better than {each.best.text} of {each.best.label}, the "
                    f"best kept; a gain of {least:.2g} % was kept"
                )
                yield Remark(flaw=Flaw.REJECTED_GAIN, line=each.row.line, rows=(each.row.label,), text=text)


def _kept(each: _Decision, least: float) -> Iterator[Remark]:
    row = each.row
    alike = measured_alike(row.change, each.last.change)
    if not alike or REPEATS.search(f"{row.name} {row.change}".replace("_", " ")) or not least <= -each.gains[0] <= FAR:
        return
    if is_baseline(row) or is_excused(row, -each.gains[0]):
        return
    text = (
        f"kept with {each.text}, {-each.gains[0]:.2g} % worse than {each.last.text} of {each.last.label}, in the column by "
        "which nearly all other rows were decided"
    )
    yield Remark(flaw=Flaw.KEPT_REGRESSION, line=row.line, rows=(row.label,), text=text)


def _has_reason(row: Row) -> bool:
    """Return whether a row says why it was rejected, and not only that its gain is small."""
    told = f"{row.change}; {row.result}" if REASON.search(row.change) else row.result
    texts = [text for text in (told, row.why, *(each.words for each in row.rulings)) if len(text.split()) > 1]
    return any(REASON.search(text) and not SMALL_GAIN.search(text) for text in texts)


def _deciding(table: Table, rows: Sequence[Row]) -> list[_Decision]:
    """Return the decisions of a table by the column that explains most of them, none where no column does."""
    most: tuple[float, list[_Decision]] = (SHARE, [])
    for head in dict.fromkeys(head for row in rows for head, _ in row.figures):
        for direction in Better:
            decisions = list(_decisions(table, rows, head, direction))
            agreed = [each for each in decisions if each.agrees]
            if len(decisions) < DECISIONS or sum(each.kept for each in agreed) < GAINS:
                continue
            if len(agreed) / len(decisions) > most[0]:
                most = (len(agreed) / len(decisions), decisions)
    return most[1]


def _decisions(table: Table, rows: Sequence[Row], head: str, direction: Better) -> Iterator[_Decision]:
    sign = 1 if direction is Better.HIGHER else -1
    last = best = _baseline(table, rows, head)
    for row in rows:
        found = _number(dict(row.figures).get(head, ""))
        kept = is_kept(row)
        if not found or not (kept or all(each.verdict is Verdict.REJECT for each in row.rulings)):
            continue
        mine = _Kept(row.line, row.label, row.change, *found)
        if last and best:
            gains = (100 * sign * (mine.value / last.value - 1), 100 * sign * (mine.value / best.value - 1))
            yield _Decision(row=row, text=mine.text, last=last, best=best, gains=gains)
        if kept:
            last = mine
            best = mine if best is None or sign * (mine.value - best.value) > 0 else best


def _baseline(table: Table, rows: Sequence[Row], head: str) -> _Kept | None:
    """Return the figure of the first row of a table, where that is no decision: what comes after it was held against it."""
    first = table.rows[0] if table.rows else None
    if first is None or head not in table.heads or any(row.line <= first.line for row in rows):
        return None
    found = _number(dict(zip(table.heads, first.cells, strict=False)).get(head, ""))
    return _Kept(first.line, f"line {first.line}", "", *found) if found else None


def _number(cell: str) -> tuple[str, float] | None:
    found = BARE.fullmatch(cell)
    value = float(found[1].replace(",", "")) if found else 0.0
    return (found[1], value) if found and value else None
