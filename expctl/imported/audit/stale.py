"""Find ids that a hand-kept ledger gives to two things, plans for what is concluded, and snapshots that were overtaken."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.text import one_line
from expctl.imported.document import Document, Line, Row, Section
from expctl.imported.figures import Figure, Quantity, figures_in
from expctl.imported.likeness import PROPER, may_be_the_same, stems
from expctl.imported.remarks import Flaw, Remark
from expctl.imported.units import Part

PLANNED = re.compile(r"\b(?:next|plan|todo|to do|future|upcoming|backlog|queue)\b", re.IGNORECASE)
SNAPSHOT = re.compile(r"\b(?:current|currently|latest|snapshot|best so far|as of now|today)\b", re.IGNORECASE)
WORD = re.compile(r"[a-z0-9_]{2,}")
COUNTED = re.compile(r"\d", re.ASCII)
HASH = re.compile(r"(?=.*\d)[0-9a-f]{7,40}", re.ASCII)
SAME_SHARE = 0.5
FEW = 3
SERIES_SHARE = 1 / 5
NEAR = 2


def reused_ids(document: Document, rows: Sequence[Row]) -> Iterator[Remark]:
    """Yield a remark on each row with the id of an earlier row, and on each id of a row that headings use for something else.

    Numbers and names say only within one table which row is meant. A later table, bullet or heading that shares telling words
    with the row speaks of the same experiment.
    """
    first: dict[tuple[str, int], Row] = {}
    times = Counter((row.name, row.table) for row in rows)
    asked: set[tuple[str, int]] = set()
    twice: list[tuple[Row, Row]] = []
    tables = {table.line for table in document.tables}
    names: dict[int, set[str]] = {}
    for row in rows:
        names.setdefault(row.table, set()).add(row.name)
    series = _tables_of_series(times, names)
    bare = {each.line for each in document.sections if not _id_and_title(each)[0]}
    for row in rows:
        proper = PROPER.fullmatch(row.name) is not None
        if not row.name or HASH.fullmatch(row.name) or (not proper and not row.table):
            continue
        if times[row.name, row.table] > FEW:
            continue  # the name of a series
        earlier = first.setdefault((row.name, 0 if proper else row.table), row)
        same_table = earlier.table == row.table and row.table in tables
        if same_table and not COUNTED.search(row.name):
            continue  # `HEAD` is a word for what has no id, a name may be tried again
        if earlier is row or (not same_table and _is_about(row.change, earlier)) or (row.name, row.table) in asked:
            continue
        if same_table and _is_tried_again(earlier, row):
            continue
        shared = names[row.table] & names[earlier.table]
        if not same_table and len(shared) > 1 and 2 * len(shared) >= min(len(names[row.table]), len(names[earlier.table])):
            continue  # each table counts anew
        if same_table and row.name.isdecimal() and row.line - earlier.line > NEAR:
            continue  # a count that began anew
        if same_table and row.table in series and row.line - earlier.line <= FEW:
            continue  # variants of one idea
        if row.line in bare or (row.table not in tables and not stems(row.change)):
            continue  # `L11 window` and `L11 depth` are of the level L11
        asked.add((row.name, row.table))
        twice.append((earlier, row))
    yield from map(_used_twice, _blocks(twice))
    told = {row.line for row in rows}
    others: dict[str, list[Section]] = {}
    for section in document.sections:
        name, title = _id_and_title(section)
        meant = [each for each in rows if name and each.name == name]
        if meant and title and section.line not in told and not any(_is_about(title, each, section) for each in meant):
            others.setdefault(name, []).append(section)
    if len(others) > FEW:
        return  # the headings count anew
    for name, (section, *more) in others.items():
        used = next(each for each in rows if each.name == name)
        text = (
            f"the heading '{one_line(section.title, 80)}' gives {name} to something else than the row of line "
            f"{used.line}: {one_line(used.change, 60)}"
        )
        text += f"; so do {len(more)} more headings" if len(more) > 1 else "; so does 1 more heading" if more else ""
        yield Remark(flaw=Flaw.REUSED_ID, line=section.line, rows=(name,), text=text)


def _is_tried_again(earlier: Row, row: Row) -> bool:
    """Return whether the change of one row begins with that of the other, whole (`... - all runs failed`)."""
    short, long = sorted((earlier.change.lower(), row.change.lower()), key=len)
    return len(WORD.findall(short)) >= FEW and long.startswith(short) and not long[len(short) : len(short) + 1].isalnum()


def _blocks(twice: Sequence[tuple[Row, Row]]) -> list[list[tuple[Row, Row]]]:
    """Return pairs of rows with one id in blocks: rows one after another that repeat the ids of such rows are one slip."""
    blocks: list[list[tuple[Row, Row]]] = []
    for earlier, row in twice:
        before = blocks[-1][-1] if blocks else None
        if before and (earlier.line, row.line) == (before[0].line + 1, before[1].line + 1):
            blocks[-1].append((earlier, row))
        else:
            blocks.append([(earlier, row)])
    return blocks


def _used_twice(block: Sequence[tuple[Row, Row]]) -> Remark:
    (earlier, row), (last_earlier, last) = block[0], block[-1]
    if len(block) > 1:
        text = (
            f"{row.name} to {last.name}, {len(block)} ids, are also the rows of line {earlier.line} to line {last_earlier.line}"
        )
    else:
        text = f"{row.name} is also the row of line {earlier.line}"
    text += f": {one_line(earlier.change, 60)}" if earlier.change else ""
    return Remark(flaw=Flaw.REUSED_ID, line=row.line, rows=tuple(each.label for _, each in block), text=text)


def _tables_of_series(times: Mapping[tuple[str, int], int], names: Mapping[int, set[str]]) -> set[int]:
    """Return the tables in which so many ids stand in several rows that they name series of variants."""
    shared = Counter(table for (name, table), count in times.items() if name and count > 1)
    return {table for table, count in shared.items() if count >= FEW and count >= SERIES_SHARE * len(names[table])}


def stale_sections(
    document: Document, rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]], unit: str
) -> Iterator[Remark]:
    """Yield a remark on each plan for an id that is concluded, and on each figure of a snapshot that was overtaken. `figures`
    maps a row's line number to the figures in it; `unit` is that of throughputs without one.
    """
    concluded = {row.name: row for row in rows if row.name}
    for section in document.sections:
        name, _ = _id_and_title(section)
        if name in concluded and PLANNED.search(section.under):
            text = (
                f"'{one_line(section.title, 60)}' stands under '{one_line(section.under, 60)}', but {name} is concluded "
                f"(line {concluded[name].line})"
            )
            yield Remark(flaw=Flaw.STALE, line=section.line, rows=(name,), text=text)
        if SNAPSHOT.search(section.title):
            yield from _stale_figures(section, _lines_of(document, section, rows), rows, figures, unit)


def _lines_of(document: Document, section: Section, rows: Sequence[Row]) -> Iterator[Line]:
    """Yield the lines of a section, and the rows of its tables that are no ledgers."""
    ledgers = {row.table for row in rows}
    yield from section.lines
    for table in document.tables:
        if table.section == section.title and table.line not in ledgers:
            for row in table.rows:
                yield Line(number=row.line, text=" | ".join(row.cells))


def _stale_figures(
    section: Section, lines: Iterator[Line], rows: Sequence[Row], figures: Mapping[int, tuple[Figure, ...]], unit: str
) -> Iterator[Remark]:
    """Yield a remark on each figure in `section` (on the current state) that is outdated.

    That is: it equals the figure of a kept row, but a row kept later has another figure for the same size. `figures` maps a
    row's line number to the figures in it; `unit` is that of throughputs without one.
    """
    kept = [row for row in rows if any(ruling.verdict is Verdict.KEEP for ruling in row.rulings)]
    for line in lines:
        for figure in figures_in(line.text, unit):
            if figure.quantity is Quantity.PERCENT or not figure.size or figure.part is not Part.RESULT:
                continue
            same = [
                (row, each)
                for row in kept
                for each in figures[row.line]
                if (each.quantity, each.unit, each.size) == (figure.quantity, figure.unit, figure.size)
                and each.part is Part.RESULT
            ]
            older = next((row for row, each in same[:-1] if each.value == figure.value), None)
            if older is not None and same[-1][1].value != figure.value:
                last, newest = same[-1]
                text = (
                    f"'{one_line(section.title, 60)}' gives {figure.text} at {figure.size}, the figure of {older.label}; "
                    f"{last.label} was kept later with {newest.text}"
                )
                yield Remark(flaw=Flaw.STALE, line=line.number, rows=(older.label, last.label), text=text)


def _id_and_title(section: Section) -> tuple[str, str]:
    """Split a heading, e.g. `P11: Stage2 pipeline` into `P11` and `Stage2 pipeline`; return ("", "") if it has no id."""
    found = re.match(r"([A-Za-z]{1,6}-?\d+[a-z]?(?:-[A-Z]\d*[a-z]?)?)(?:\s*(?:[:)–—]|\.(?!\d))|\s+-+\s)\s*(.*)", section.title)
    return (found[1], found[2]) if found else ("", "")


def _is_about(title: str, row: Row, section: Section | None = None) -> bool:
    if may_be_the_same(title, row.change, " ".join(line.text for line in section.lines) if section else ""):
        return True
    words = set(WORD.findall(title.lower()))
    tried = set(WORD.findall(row.change.lower()))
    shared = words & (tried | set(WORD.findall(f"{row.result} {row.why}".lower())))
    return len(shared) >= SAME_SHARE * len(words) or len(words & tried) >= max(2.0, SAME_SHARE * len(tried))
