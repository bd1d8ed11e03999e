"""Parse Markdown tables, or comma- or tab-separated text, into tables of cells and the text around them."""

import csv
import dataclasses
import io
import re
from pathlib import PurePath

from expctl.domain.errors import Refused
from expctl.imported.document import Document, Line, Section, Table, TableRow

HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
RULE = re.compile(r"\s*\|?\s*:?-{1,}:?\s*(?:\|\s*:?-{1,}:?\s*)*\|?\s*")
PIPED = re.compile(r"\s*\|.*\|\s*")
FENCE = re.compile(r"\s*(?:```|~~~)")
NOT_ESCAPED_PIPE = re.compile(r"(?<!\\)\|")
COMMENT = "#"
# The number of an experiment that begins a row
NUMBERED = re.compile(r"[\W_]*([A-Za-z]*)[-#]?(\d+)[\W_]*", re.ASCII)
DECIMAL = re.compile(r"[-+]?\d+\.\d+")


def read_document(contents: bytes, name: str) -> Document:
    """Return the tables and the text in a file's `contents`. The suffix of `name`, the file's name, tells TSV, CSV or Markdown,
    else the text does. Raises Refused for text that isn't UTF-8, unclosed quotes, and an unclosed comment.
    """
    try:
        text = contents.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(
            f"{PurePath(name).name} is not text",
            code="not-text",
            expected="UTF-8",
            found=f"byte {contents[error.start]:#x} at offset {error.start}",
            where=PurePath(name).name,
            hint="convert it: iconv -f ENCODING -t UTF-8 FILE",
        ) from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise Refused(
            f"{PurePath(name).name} is not text",
            code="not-text",
            expected="Markdown, TSV or CSV",
            found="a NUL character",
            where=f"{PurePath(name).name}, line {line}",
            hint="export it as text; tr -d '\\000' drops the character",
        )
    delimiter = _delimiter(text, PurePath(name).suffix.lower())
    short = PurePath(name).name
    return _delimited(text, short, delimiter) if delimiter else _markdown(text, short)


def _delimiter(text: str, suffix: str) -> str:
    if suffix in (".tsv", ".csv"):
        heads = text.partition("\n")[0]
        return "\t" if suffix == ".tsv" or "\t" in heads else ";" if heads.count(";") > heads.count(",") else ","
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith(COMMENT)), "")
    return "\t" if suffix not in (".md", ".markdown") and first.count("\t") >= 2 and "|" not in first else ""


def _delimited(text: str, name: str, delimiter: str) -> Document:
    # Quotes are ordinary characters in TSV, and enclose cells in CSV.
    lines_of = io.StringIO(text, newline="")
    tabs = delimiter == "\t"
    reader = csv.reader(lines_of, delimiter=delimiter, quoting=csv.QUOTE_NONE if tabs else csv.QUOTE_MINIMAL, strict=True)
    lines: list[tuple[int, list[str]]] = []
    read = 0
    try:
        for cells in reader:
            read = reader.line_num
            if any(cell.strip() for cell in cells) and not cells[0].startswith(COMMENT):
                lines.append((reader.line_num, [cell.strip() for cell in cells]))
    except csv.Error as error:
        raise Refused(
            f"{name} is damaged",
            code="file-damaged",
            expected="cells whose quotes are closed, and doubled inside of quotes",
            found=f"the row that begins in line {read + 1}: {error}",
            where=f"{name}, line {read + 1}",
            hint="close the quote in that line, or drop it, and import again",
        ) from error
    if not lines:
        return Document(name=name, title="", tables=(), sections=())
    (start, heads), *rows = lines
    if any(map(DECIMAL.fullmatch, heads)):  # the first line is a row already
        heads, rows = [""] * len(heads), lines
    table = Table(line=start, section="", heads=tuple(heads), rows=tuple(_row(line, cells, len(heads)) for line, cells in rows))
    return Document(name=name, title="", tables=(table,), sections=())


def _markdown(text: str, name: str) -> Document:
    lines = text.splitlines()
    titles: list[tuple[int, str]] = []  # open headings, as (level, title)
    sections: list[Section] = [Section(line=1, title="", under="", lines=())]
    pending: list[Line] = []
    tables: list[Table] = []
    at, fenced, first = 0, False, ""
    above = 0  # tables above the last heading
    comments = _comment_lines(lines, name)

    def close() -> None:
        last = sections[-1]
        sections[-1] = Section(line=last.line, title=last.title, under=last.under, lines=tuple(pending))
        pending.clear()

    while at < len(lines):
        line = lines[at]
        if FENCE.match(line) and at not in comments:
            fenced = not fenced
        if not fenced and at in comments:
            at += 1
            continue
        heading = None if fenced else HEADING.fullmatch(line)
        if heading:
            close()
            above = len(tables)
            level = len(heading[1])
            titles = [title for title in titles if title[0] < level]
            sections.append(Section(line=at + 1, title=heading[2], under=titles[-1][1] if titles else "", lines=()))
            titles.append((level, heading[2]))
            first = first or heading[2]
        elif not fenced and "|" in line and at + 1 < len(lines) and _is_rule(lines[at + 1], line):
            end = at + 2
            while end < len(lines) and "|" in lines[end] and end not in comments and not HEADING.fullmatch(lines[end]):
                end += 1
            tables.append(_table(lines, at, end, sections[-1].title))
            at = end
            continue
        elif not fenced and (going := _continued(lines, at, comments, tables[above:])):
            which, rows = above + going[0], _headless_table(lines[at : going[1]], at, "").rows
            tables[which] = dataclasses.replace(tables[which], rows=(*tables[which].rows, *rows))
            at = going[1]
            continue
        elif not fenced and (end := _headless(lines, at, comments)):
            tables.append(_headless_table(lines[at:end], at, sections[-1].title))
            at = end
            continue
        else:
            pending.append(Line(number=at + 1, text=line))
        at += 1
    close()
    return Document(name=name, title=first, tables=tuple(tables), sections=tuple(sections))


def _comment_lines(lines: list[str], name: str) -> set[int]:
    """Return the indices of lines in HTML comments outside fenced code. Raises Refused for an unclosed one in file `name`."""
    found: set[int] = set()
    inside = fenced = False
    for at, line in enumerate(lines):
        if not inside:
            fenced ^= bool(FENCE.match(line))
            inside = not fenced and line.lstrip().startswith("<!--")
        if inside:
            found.add(at)
            inside = "-->" not in line
    if inside:
        start = next(at for at in sorted(found, reverse=True) if at - 1 not in found) + 1
        raise Refused(
            "an HTML comment never ends",
            code="comment-never-ends",
            expected="--> after <!--",
            found="the end of the file",
            where=f"{name}, line {start}",
            hint="add --> where the comment ends: its text is not read",
        )
    return found


def _is_rule(line: str, heads: str) -> bool:
    return bool(RULE.fullmatch(line)) and "-" in line and len(_cells(line)) == len(_cells(heads))


def _table(lines: list[str], start: int, end: int, section: str) -> Table:
    heads = _cells(lines[start])
    rows = tuple(_row(number + 1, _cells(lines[number]), len(heads)) for number in range(start + 2, end))
    return Table(line=start + 1, section=section, heads=tuple(heads), rows=rows)


def _continued(lines: list[str], start: int, comments: set[int], tables: list[Table]) -> tuple[int, int] | None:
    """Return to which of the `tables` of a section the rows belong that begin at `start`, and where they end: to the last one
    where only blank lines stand between, else to the last one as wide that numbers its rows as they do. None for others.
    """
    end = start
    while end < len(lines) and end not in comments and PIPED.fullmatch(lines[end]) and not RULE.fullmatch(lines[end]):
        end += 1
    if end == start or (end < len(lines) and "|" in lines[end]):
        return None
    rows = [_cells(line) for line in lines[start:end]]
    for which, table in reversed(tuple(enumerate(tables))):
        if not table.rows or any(len(cells) != len(table.heads) for cells in rows):
            continue
        blank = table is tables[-1] and not any(line.strip() for line in lines[table.rows[-1].line : start])
        if blank or _numbered_on(table, rows):
            return which, end
    return None


def _numbered_on(table: Table, rows: list[list[str]]) -> bool:
    """Return whether all rows and all of the table begin with a number of one kind (`12`, `E12`), each number once."""
    names = [NUMBERED.fullmatch(cell) for cell in (*(row.cells[0] for row in table.rows), *(cells[0] for cells in rows))]
    kinds = [(each[1], each[2]) for each in names if each]
    return len(set(kinds)) == len(names) and len({kind for kind, _ in kinds}) == 1


def _headless(lines: list[str], start: int, comments: set[int]) -> int:
    """Return where the table without heads ends that begins at `start`: at least two lines of equally many cells; else 0."""
    end = start
    width = len(_cells(lines[start]))
    while end < len(lines) and end not in comments and PIPED.fullmatch(lines[end]) and len(_cells(lines[end])) == width:
        end += 1
    ruled = end < len(lines) and "|" in lines[end] and not RULE.fullmatch(lines[end])
    return end if width > 1 and end - start > 1 and not ruled and not any(map(RULE.fullmatch, lines[start + 1 : end])) else 0


def _headless_table(lines: list[str], at: int, section: str) -> Table:
    """Return a table whose heads are empty. A rule before its first line is left out."""
    rows = tuple(
        _row(at + index + 1, cells, len(cells))
        for index, cells in enumerate(map(_cells, lines))
        if not RULE.fullmatch(lines[index])
    )
    return Table(line=at + 1, section=section, heads=("",) * len(rows[0].cells), rows=rows)


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [cell.strip().replace("\\|", "|") for cell in NOT_ESCAPED_PIPE.split(inner)]


def _row(line: int, cells: list[str], width: int) -> TableRow:
    """Return a row of `width` cells: missing ones are empty, surplus ones are joined to the last."""
    cut = [*cells[: width - 1], " | ".join(cells[width - 1 :])] if len(cells) > width else cells
    return TableRow(line=line, cells=(*cut, *([""] * (width - len(cut)))))
