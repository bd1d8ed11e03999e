"""Turn the tables of a hand-kept ledger into experiments: each table line becomes a Row, or is listed with a reason why not."""

import re
from dataclasses import replace

from expctl.domain.text import one_line, plain_text
from expctl.imported.columns import (
    MEASURED,
    NO_MAP,
    Columns,
    Map,
    columns_of,
    dialect_of,
    ids_inside,
    name_in_change,
)
from expctl.imported.document import Document, ParsedLedger, Row, Table, TableRow, Unread
from expctl.imported.groups import MEANINGS, ruled_by_heading
from expctl.imported.heads import TRIED
from expctl.imported.ids import is_range
from expctl.imported.inside import ruled_inside
from expctl.imported.prose import read_text
from expctl.imported.questions import options_for, options_of_table, why_no_ledger
from expctl.imported.verdicts import Dialect, Pending, rulings, spelled_out

CELL_MAX = 4000
DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?", re.ASCII)

NO_NAME = ("-", "–", "—", "none", "n/a", "na", "null", "nil", "tbd", "?")


def read_document(document: Document, given: Map = NO_MAP) -> ParsedLedger:
    """Return the experiments in all tables that are ledgers and in the text around them, and all that was left out: tables,
    lines, unfinished rows. `given` is what the user says about heads and words.
    """
    rows: list[Row] = []
    columns: list[str] = []
    waiting: list[Unread] = []
    unread: list[Unread] = []
    skipped_tables: list[Unread] = []
    titles = [section.title for section in document.sections]
    for written in document.tables:
        table, found = written, columns_of(written, given)
        ruled = ruled_by_heading(written, frozenset(TRIED), MEASURED, titles) if found is None else None
        understood = replace(given, meanings=MEANINGS | dict(given.meanings)) if ruled else given
        if ruled:
            table, found = ruled, columns_of(ruled, understood)
        elif found is None and (inside := ruled_inside(written)):
            table, found = inside, columns_of(inside, given)
        if found is None:
            why, options = why_no_ledger(table, given), options_of_table(table, given)
            text = one_line(" | ".join(table.heads), 80)
            skipped_tables.append(Unread(line=table.line, text=text, why=why, options=options))
            continue
        words = plain_text(found.words(table.heads))
        columns.append(f"line {table.line}: {words.replace('= verdict', '= the heading', 1) if ruled else words}")
        dialect = dialect_of(table, found.verdict, understood)
        named_inside = ids_inside(table, found)
        for line in table.rows:
            made = _row(table, found, line, dialect, inside=named_inside)
            if isinstance(made, Row):
                rows.append(made)
            elif made.why in set(Pending):
                waiting.append(made)
            elif any(line.cells):
                unread.append(made)
    told = read_text(document, rows, Dialect(answers=False, meanings=given.meanings))
    for each in told:
        if isinstance(each, Unread):
            (waiting if each.why in set(Pending) else unread).append(each)
    rows = sorted([*rows, *(each for each in told if isinstance(each, Row))], key=lambda row: row.line)
    return ParsedLedger(
        rows=tuple(rows),
        columns=tuple(columns),
        waiting=tuple(waiting),
        unread=tuple(unread),
        skipped_tables=tuple(skipped_tables),
    )


def _row(table: Table, columns: Columns, line: TableRow, dialect: Dialect, *, inside: bool) -> Row | Unread:
    """Return the experiment of a line; `inside`: its id begins the cell of the change."""

    def cell(index: int | None) -> str:
        return plain_text(line.cells[index]) if index is not None else ""

    verdict = cell(columns.verdict)
    found = rulings(verdict, dialect) or rulings(spelled_out(verdict), dialect)
    shown = one_line(" | ".join(line.cells), 120)
    if found is None:
        return Unread(
            line=line.line, text=shown, why=f"{verdict!r} is not recognised as a verdict", options=options_for([verdict])
        )
    if isinstance(found, Pending):
        return Unread(line=line.line, text=shown, why=found.value)
    if max(map(len, line.cells)) > CELL_MAX:
        return Unread(line=line.line, text=shown, why=f"a cell of more than {CELL_MAX} characters")
    if not re.search(r"\w", cell(columns.change) + cell(columns.name)):
        return Unread(line=line.line, text=shown, why="the row has neither an id nor a change")
    name = _without_markup(cell(columns.name))
    if is_range(name):
        return Unread(line=line.line, text=shown, why=f"{name!r} is a range of ids: one experiment is one row, or `P3, P4`")
    date = DATE.fullmatch(cell(columns.date))
    figures = [(plain_text(table.heads[index]), cell(index)) for index in columns.figures if cell(index)]
    if columns.date is not None and not date and cell(columns.date):
        figures.append((plain_text(table.heads[columns.date]), cell(columns.date)))
    if columns.name is None and inside:
        name = name_in_change(cell(columns.change))
    return Row(
        line=line.line,
        name=name,
        rulings=found,
        change=cell(columns.change),
        result=cell(columns.result),
        why=cell(columns.why),
        date=date[0] if date else "",
        figures=tuple(figures),
        table=table.line,
    )


def _without_markup(name: str) -> str:
    bare = name.strip("`*# ")
    return "" if bare.lower() in NO_NAME or not re.search(r"\w", bare) else bare
