"""The lines of a hand-kept ledger that can tell of an experiment: headings, items of lists, rows of tables."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from expctl.domain.text import plain_text
from expctl.imported.columns import Columns, columns_of, ids_inside, name_in_change
from expctl.imported.document import Document, Row, Ruling, Table, TableRow
from expctl.imported.headings import title_and_name
from expctl.imported.heads import HEADS, Role
from expctl.imported.items import items, outside_fences, parted
from expctl.imported.verdict_columns import Map, plain_head

KEY_MAX = 110
DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?", re.ASCII)
NO_NAME = ("-", "–", "—", "none", "n/a", "na", "null", "nil", "tbd", "?")
BY_MAP = "verdict by --map"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A line that can tell of an experiment: `text` is what it says in full, `make` gives that as one without a verdict.
    `below` is the line of its table or of the heading above it, 0 for a heading.
    """

    line: int
    text: str
    below: int
    make: Callable[[], Row]
    indent: int = 0

    @property
    def kind(self) -> tuple[int, int] | None:
        """Return what a line has in common with the rows of its table, or with the items beside it; None for a heading."""
        return (self.below, self.indent) if self.below else None

    @property
    def key(self) -> str:
        """Return the text by which the line is known when the file has changed around it."""
        return plain_text(self.text[: 2 * KEY_MAX])[:KEY_MAX]


def places(document: Document) -> Mapping[int, Place]:
    """Return all places of `document` by line number, in order."""
    found = [*_of_tables(document), *_of_sections(document)]
    return {place.line: place for place in sorted(found, key=lambda place: place.line)}


def _of_tables(document: Document) -> Iterator[Place]:
    for table in document.tables:
        made = _Rows(table)
        for row in table.rows:
            yield Place(line=row.line, text=" | ".join(row.cells), below=table.line, make=partial(made.row, row))


def _of_sections(document: Document) -> Iterator[Place]:
    for section in document.sections:
        if section.title:
            told = partial(_told, section.line, section.title, "", section.line)
            yield Place(line=section.line, text=section.title, below=0, make=told)
        indents = {line.number: len(line.text) - len(line.text.lstrip()) for line in section.lines}
        for line, text, _ in items(tuple(outside_fences(section.lines))):
            told = partial(_told, line, *parted(text), section.line)
            yield Place(line=line, text=text, below=section.line, make=told, indent=indents[line])


def _told(line: int, title: str, rest: str, below: int) -> Row:
    change, name = title_and_name(title)
    return Row(
        line=line,
        name=name,
        rulings=(),
        change=plain_text(change or title),
        result=plain_text(rest),
        why="",
        date="",
        figures=(),
        table=below,
    )


class _Rows:
    """The rows of a table in which nobody has found a column of verdicts."""

    def __init__(self, table: Table) -> None:
        self.table = table

    @cached_property
    def wide(self) -> tuple[Table, Columns | None]:
        """Return the table with a column of verdicts that nobody has filled in, and what its columns hold."""
        rows = tuple(TableRow(line=row.line, cells=(*row.cells, "-")) for row in self.table.rows)
        wide = Table(line=self.table.line, section=self.table.section, heads=(*self.table.heads, BY_MAP), rows=rows)
        found = columns_of(wide, Map(heads={Role.VERDICT: BY_MAP}))
        if not found or found.name == 0 or found.change in (None, 0):
            return wide, found
        named = plain_head(self.table.heads[found.change]) in HEADS[Role.CHANGE]
        # What stands first was tried, where the words beside it are notes.
        figures = tuple(sorted({*found.figures, found.change} - {0}))
        return wide, found if named else replace(found, change=0, figures=figures)

    def row(self, line: TableRow) -> Row:
        table, columns = self.wide
        if columns is None:
            text = plain_text(" | ".join(line.cells))
            return Row(
                line=line.line, name="", rulings=(), change=text, result="", why="", date="", figures=(), table=table.line
            )
        return row_of(table, columns, TableRow(line=line.line, cells=(*line.cells, "-")), (), inside=ids_inside(table, columns))


def row_of(table: Table, columns: Columns, line: TableRow, rulings: Sequence[Ruling], *, inside: bool) -> Row:
    """Return the experiment of a line; `inside`: its id begins the cell of the change."""
    date = DATE.fullmatch(cell_of(line, columns.date))
    change = cell_of(line, columns.change)
    figures = [(plain_text(table.heads[index]), cell_of(line, index)) for index in columns.figures if cell_of(line, index)]
    if columns.date is not None and not date and cell_of(line, columns.date):
        figures.append((plain_text(table.heads[columns.date]), cell_of(line, columns.date)))
    return Row(
        line=line.line,
        name=name_in_change(change) if columns.name is None and inside else name_of(line, columns),
        rulings=tuple(rulings),
        change=change,
        result=cell_of(line, columns.result),
        why=cell_of(line, columns.why),
        date=date[0] if date else "",
        figures=tuple(figures),
        table=table.line,
    )


def cell_of(line: TableRow, index: int | None) -> str:
    """Return the text of a cell; "" where the table has no such column."""
    return plain_text(line.cells[index]) if index is not None else ""


def name_of(line: TableRow, columns: Columns) -> str:
    """Return the id in its own column; "" without one."""
    bare = cell_of(line, columns.name).strip("`*# ")
    return "" if bare.lower() in NO_NAME or not re.search(r"\w", bare) else bare
