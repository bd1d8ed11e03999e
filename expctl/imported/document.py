"""Data classes for a ledger of experiments that somebody kept by hand: its tables and the text around them."""

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
    """A heading (in line `line`) and the lines below it that belong to no table; `under` is the enclosing heading, or ""."""

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
        """Yield all headings and all lines outside tables, in order of the file."""
        for section in self.sections:
            yield Line(number=section.line, text=section.title)
            yield from section.lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A verdict in a hand-kept ledger and the author's words for it; `kind` of experiment is None if they name none."""

    verdict: Verdict
    kind: Kind | None
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One experiment of a hand-kept ledger, at line `line`; `name` is its id as written, "" without one. `figures` are (column
    head, cell) for all columns that hold neither id, verdict, change, result, reason nor date. `table` is the line of its
    table, or of the heading above it where it is told in text: only figures below the same one are compared.
    """

    line: int
    name: str
    rulings: tuple[Ruling, ...]
    change: str
    result: str
    why: str
    date: str
    figures: tuple[tuple[str, str], ...]
    table: int = 0

    @property
    def label(self) -> str:
        """Return the row's id; without one, text that names its line."""
        return self.name or f"the row of line {self.line}"

    def repeats(self, other: "Row") -> bool:
        """Return whether both rows have equal ids, verdicts, changes and results, so that one is a copy of the other."""
        mine, its = ((row.name, row.rulings, row.change, row.results()) for row in (self, other))
        return mine == its

    def results(self) -> str:
        """Return as one text the result column and all columns whose meaning isn't known, the latter with their heads."""
        others = "; ".join(f"{head}: {cell}" for head, cell in self.figures)
        return "; ".join(part for part in (self.result, others) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A line of the ledger that was not understood, and why. `options` of the command line would decide it; `guess` is the
    verdict that its words let one guess, None without one. `below` is the line of the table or the heading below which it
    stands, 0 for a heading.
    """

    line: int
    text: str
    why: str
    options: tuple[str, ...] = ()
    guess: Verdict | None = None
    below: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """A section that tells once more of the experiment in line `row`, with its verdict or without one."""

    line: int
    text: str
    row: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedLedger:
    """The contents of a hand-kept ledger: `rows` are its experiments.

    `columns` are sentences on how each table's columns were understood, `waiting` rows without a verdict yet, `unread` lines
    that were not understood, `skipped_tables` the tables that are no ledger. `proposals` are lines that may be experiments: a
    person says what they are. `again` are sections about experiments of tables.
    """

    rows: tuple[Row, ...]
    columns: tuple[str, ...]
    waiting: tuple[Unread, ...]
    unread: tuple[Unread, ...]
    skipped_tables: tuple[Unread, ...]
    proposals: tuple[Unread, ...] = ()
    again: tuple[Again, ...] = ()

    def asked(self) -> tuple[Unread, ...]:
        """Return the lines for which a person is to say a verdict, in order."""
        return tuple(sorted((*self.unread, *self.proposals), key=lambda each: each.line))
