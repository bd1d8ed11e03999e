"""Turn the tables of a hand-kept ledger into experiments: each table line becomes a Row, or is listed with a reason why not."""

import re
from dataclasses import replace

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.text import one_line, plain_text
from expctl.imported.candidates import candidates
from expctl.imported.columns import Columns, columns_of, ids_inside
from expctl.imported.document import Again, Document, ParsedLedger, Row, Ruling, Table, TableRow, Unread
from expctl.imported.groups import MEANINGS, ruled_by_heading
from expctl.imported.heads import TRIED
from expctl.imported.ids import is_range
from expctl.imported.likeness import told_twice
from expctl.imported.outcomes import outcome_of_cell
from expctl.imported.places import cell_of, name_of, places, row_of
from expctl.imported.prose import read_text
from expctl.imported.questions import line_option, options_for, options_of_table, why_no_ledger
from expctl.imported.said import said_of_lines
from expctl.imported.verdict_columns import MEASURED, NO_MAP, NO_WORD, Map, dialect_of, marked_heads, ruled_inside, words_beside
from expctl.imported.verdicts import Dialect, Pending, rulings, said_as, spelled_out

CELL_MAX = 4000
SHOWN_MAX = 120
FIGURE = re.compile(r"[*`~≈ +−-]*\d")
KILLED = re.compile(r"\W*kill(?:ed)?\W*", re.IGNORECASE)
NO_WORD_SAID = "no word of it is surely a verdict"
# `keep | baseline, as it was` keeps nothing; `baseline + wider loads` and `baseline with two stages` are changes.
IS_BASELINE = re.compile(
    r"\W*(?:(?:the|first|initial|stock|original|unmodified)\W+)*baseline\b(?!\s*(?:[+&]|->|→|with\b|and\b|plus\b|minus\b))"
    r"|\W*\d+\s?(?:s|min|h)\W+baseline\s*:",
    re.IGNORECASE,
)


def read_document(document: Document, given: Map = NO_MAP) -> ParsedLedger:
    """Return the experiments in all tables that are ledgers and in the text around them, and all that was left out: tables,
    lines, unfinished rows. `given` is what the user says about heads and words.
    """
    rows: list[Row] = []
    columns: list[str] = []
    waiting: list[Unread] = []
    unread: list[Unread] = []
    skipped_tables: list[Unread] = []
    read: set[int] = set()
    titles = [section.title for section in document.sections]
    given = replace(given, marked=marked_heads(document.tables))
    for written in document.tables:
        table, found = written, columns_of(written, given)
        heading = ruled_by_heading(written, frozenset(TRIED), MEASURED, titles, given.meanings)
        ruled = heading if found is None else None
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
        read |= {table.line, *(row.line for row in table.rows)}
        dialect = replace(dialect_of(table, found.verdict, understood), inside=True)
        named_inside = ids_inside(table, found)
        of_heading = {row.line: row.cells[-1] for row in heading.rows} if heading and not ruled else {}
        beside = words_beside(written) if table is not written and not ruled else ""
        for line in table.rows:
            made = _row(table, found, line, dialect, inside=named_inside, of_heading=of_heading.get(line.line, ""))
            if isinstance(made, Row):
                rows.append(made)
            elif made.why in set(Pending):
                waiting.append(made)
            elif any(line.cells):
                unread.append(
                    replace(made, options=(f'--map "verdict={beside}"',))
                    if beside and (made.options or made.why == NO_WORD_SAID)
                    else made
                )
    told = read_text(document, rows, Dialect(answers=False, meanings=given.meanings))
    for each in told:
        if isinstance(each, Unread):
            (waiting if each.why in set(Pending) else unread).append(each)
    rows += (each for each in told if isinstance(each, Row))
    rows.sort(key=lambda row: row.line)
    twice = told_twice(rows)
    again = [each for each in told if isinstance(each, Again)]
    again += (
        Again(line=row.line, text=one_line(row.change, SHOWN_MAX), row=twice[row.line]) for row in rows if row.line in twice
    )
    parsed = ParsedLedger(
        rows=tuple(row for row in rows if row.line not in twice),
        columns=tuple(columns),
        waiting=tuple(waiting),
        unread=tuple(unread),
        skipped_tables=tuple(skipped_tables),
        again=tuple(sorted(again, key=lambda each: each.line)),
    )
    return _with_lines(parsed, document, given, read)


def _with_lines(parsed: ParsedLedger, document: Document, given: Map, read: set[int]) -> ParsedLedger:
    """Return what was read with what a person said of words and of single lines, and with the lines that may be experiments
    beside.
    """
    known = places(document)
    understood = read.union(*({each.line for each in lines} for lines in (parsed.rows, parsed.waiting, parsed.again)))
    worded = said_of_lines(document, given.meanings, understood)
    told = {line: verdict for line, verdict in worded.items() if line in known}
    told |= {line: given.lines[place.key] for line, place in known.items() if place.key in given.lines}
    again = tuple(each for each in parsed.again if each.line not in told)
    before = {row.line: row for row in parsed.rows}
    rows = [row for row in parsed.rows if row.line not in told]
    waiting = [each for each in parsed.waiting if each.line not in told]
    unread = [each for each in parsed.unread if each.line not in told]
    for line, verdict in told.items():
        row = before.get(line) or known[line].make()
        words = " / ".join(each.words for each in row.rulings) or f"{verdict} by --map"
        if verdict:
            rows.append(replace(row, rulings=(Ruling(verdict=verdict, kind=None, words=words),)))
        else:
            text = one_line(known[line].text, SHOWN_MAX)
            waiting.append(Unread(line=line, text=text, why=Pending.NO_VERDICT_YET.value))
    rows.sort(key=lambda row: row.line)
    settled = read | {each.line for each in (*waiting, *unread)} | {each.line for each in again}
    found = candidates(document, rows, known, settled)
    return replace(
        parsed,
        rows=tuple(rows),
        again=again,
        waiting=tuple(waiting),
        unread=tuple(replace(each, options=each.options or (line_option(each.line, each.guess),)) for each in unread),
        proposals=tuple(
            Unread(
                line=each.place.line,
                text=one_line(each.place.text, SHOWN_MAX),
                why="it may be an experiment",
                options=(line_option(each.place.line, each.guess),),
                guess=each.guess,
                below=each.place.below,
            )
            for each in found
        ),
    )


def _row(
    table: Table, columns: Columns, line: TableRow, dialect: Dialect, *, inside: bool, of_heading: str = ""
) -> Row | Unread:
    """Return the experiment of a line; `inside`: its id begins the cell of the change, `of_heading` are words of the heading,
    which hold where the cell of the verdict has none.
    """
    verdict = cell_of(line, columns.verdict)
    found = rulings(verdict, dialect) or rulings(spelled_out(verdict), dialect)
    if not found and dialect.outcomes and (outcome := outcome_of_cell(verdict)):
        found = (Ruling(verdict=outcome, kind=None, words=verdict),)
    if found is None and of_heading:
        meanings = MEANINGS | dict(dialect.meanings)
        found = rulings(of_heading, replace(dialect, meanings=meanings))
    shown = one_line(" | ".join(line.cells), 120)
    if found is None:
        if verdict == NO_WORD:
            return Unread(line=line.line, text=shown, why=NO_WORD_SAID)
        why = f"{verdict!r} is not recognised as a verdict"
        return Unread(line=line.line, text=shown, why=why, options=options_for([verdict]))
    if isinstance(found, Pending):
        return Unread(line=line.line, text=shown, why=found.value)
    if max(map(len, line.cells)) > CELL_MAX:
        return Unread(line=line.line, text=shown, why=f"a cell of more than {CELL_MAX} characters")
    if not re.search(r"\w", cell_of(line, columns.change) + cell_of(line, columns.name)):
        return Unread(line=line.line, text=shown, why="the row has neither an id nor a change")
    if is_range(name := name_of(line, columns)):
        return Unread(line=line.line, text=shown, why=f"{name!r} is a range of ids: one experiment is one row, or `P3, P4`")
    unsaid = all(KILLED.fullmatch(each.words) and said_as(each.words) not in dialect.meanings for each in found)
    if unsaid and _lacks_result(table, line, columns):
        why = f"{verdict!r} without a figure may have been stopped before there was a result"
        return Unread(line=line.line, text=shown, why=why, options=options_for([verdict]))
    kept = all(each.verdict is Verdict.KEEP and not re.search("baseline", each.words, re.IGNORECASE) for each in found)
    if kept and IS_BASELINE.match(cell_of(line, columns.change)):
        options = (line_option(line.line, Verdict.KEEP),)
        return Unread(line=line.line, text=shown, why=Pending.BASELINE.value, options=options)
    return row_of(table, columns, line, found, inside=inside)


def _lacks_result(table: Table, line: TableRow, columns: Columns) -> bool:
    """Return whether a column has figures in most lines, but no such column has one in this line."""
    count = {at: sum(bool(FIGURE.match(row.cells[at])) for row in table.rows) for at in columns.figures}
    measured = [at for at, times in count.items() if 2 * times > len(table.rows)]
    return bool(measured) and not any(FIGURE.match(line.cells[at]) for at in measured)
