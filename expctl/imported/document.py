"""Data of a ledger that somebody kept by hand: its tables and the text around them, with line numbers."""

from collections.abc import Iterator
from dataclasses import dataclass

from expctl.domain.experiment.proposal import Kind, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of text; `number` counts from 1."""

    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One row of a table: its line number, and one cell for each column."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table below the heading `section`; `line` is the number of the line with its column heads."""

    line: int
    section: str
    heads: tuple[str, ...]
    rows: tuple[TableRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and the lines below it that belong to no table; `under` is the enclosing heading, or ""."""

    line: int
    title: str
    under: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A hand-kept ledger; `name` is the file's name without its folder, `title` the first heading."""

    name: str
    title: str
    tables: tuple[Table, ...]
    sections: tuple[Section, ...]

    def lines(self) -> Iterator[Line]:
        """Yield all headings and lines outside tables, in order."""
        for section in self.sections:
            yield Line(number=section.line, text=section.title)
            yield from section.lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A verdict and the author's words for it; `kind` is None where they name no kind of experiment."""

    verdict: Verdict
    kind: Kind | None
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One experiment of a ledger; `name` is its id as written, `figures` are (head, cell) of columns without a role."""

    line: int
    name: str
    rulings: tuple[Ruling, ...]
    change: str
    result: str
    why: str
    date: str
    figures: tuple[tuple[str, str], ...]

    @property
    def label(self) -> str:
        """Return the row's id, or its line where it has none."""
        return self.name or f"the row of line {self.line}"

    def repeats(self, other: "Row") -> bool:
        """Return whether `other` has this row's id, verdicts, change and results, so that one is a copy of the other."""
        mine, its = ((row.name, row.rulings, row.change, row.results()) for row in (self, other))
        return mine == its

    def results(self) -> str:
        """Return the result column and all columns without a role as one text."""
        others = "; ".join(f"{head}: {cell}" for head, cell in self.figures)
        return "; ".join(part for part in (self.result, others) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A line of the ledger that was not understood, and why."""

    line: int
    text: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedLedger:
    """Experiments found in a ledger; `columns` says how each table was read, `waiting` are rows without a verdict yet."""

    rows: tuple[Row, ...]
    columns: tuple[str, ...]
    waiting: tuple[Unread, ...]
    unread: tuple[Unread, ...]
    skipped_tables: tuple[Unread, ...]
