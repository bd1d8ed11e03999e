"""A ledger that somebody kept by hand, as it stands in its file: tables, and the text around them, with line numbers."""

from collections.abc import Iterator
from dataclasses import dataclass

from expctl.domain.experiment.proposal import Kind, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of text. `number` counts from 1."""

    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """The cells of one line, as many as the table has heads."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table under the heading `section`."""

    line: int
    section: str
    heads: tuple[str, ...]
    rows: tuple[TableRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading, and the lines up to the next one; tables are not among them. `under` is the heading above it, or empty."""

    line: int
    title: str
    under: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """`name` is the file's name without its folder; the first heading is the title."""

    name: str
    title: str
    tables: tuple[Table, ...]
    sections: tuple[Section, ...]

    def lines(self) -> Iterator[Line]:
        """Everything outside tables, in order."""
        for section in self.sections:
            yield Line(number=section.line, text=section.title)
            yield from section.lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What the words of a verdict mean. `kind` is None where they don't say."""

    verdict: Verdict
    kind: Kind | None
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One experiment of the table. `name` is its id as given, `figures` are (head, cell) of columns that nobody explains."""

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
        """What to call the row: its id, or where it stands."""
        return self.name or f"the row of line {self.line}"

    def repeats(self, other: "Row") -> bool:
        """Is it the same row again, somewhere else in the file?"""
        return (self.name, self.rulings, self.change, self.results()) == (
            other.name,
            other.rulings,
            other.change,
            other.results(),
        )

    def results(self) -> str:
        """The result and every other column, as given."""
        others = "; ".join(f"{head}: {cell}" for head, cell in self.figures)
        return "; ".join(part for part in (self.result, others) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """What was not understood, and why."""

    line: int
    text: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was understood of a document. `columns` says how each table was read, `waiting` are rows without a verdict yet."""

    rows: tuple[Row, ...]
    columns: tuple[str, ...]
    waiting: tuple[Unread, ...]
    unread: tuple[Unread, ...]
    passed_over: tuple[Unread, ...]
