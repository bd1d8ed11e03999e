"""Find rows of a hand-kept ledger that stand in it twice, and ids that are missing or lie in the range of another row."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from expctl.domain.text import one_line
from expctl.imported.audit.comparisons import REPEATS, is_baseline
from expctl.imported.document import Document, Row, Table
from expctl.imported.remarks import Flaw, Remark

NUMBERED = re.compile(r"([A-Za-z]{0,4}-?)(\d{1,4})")
RANGE = re.compile(r"([A-Za-z]{0,4}-?)(\d{1,4})\s?[-–]\s?([A-Za-z]{0,4}-?)(\d{1,4})")
# A figure with so many digits doesn't come out alike by chance.
DIGITS_MIN = 4
FEW = 3
STEADY = 0.9
GAP_MAX = 10


def entered_twice(document: Document, rows: Sequence[Row]) -> Iterator[Remark]:
    """Yield a remark on each row that has all cells of an earlier row of its table but the id, one figure with at least four
    digits. What says that it was measured again may be alike; and where more than three rows of a table are, it lists
    something else.
    """
    first: dict[tuple[object, ...], Row] = {}
    again: dict[int, list[tuple[Row, Row]]] = {}
    cells_at = {row.line: row.cells for table in document.tables for row in table.rows}
    for row in rows:
        earlier = first.setdefault((row.table, row.change.lower(), row.result, row.figures), row)
        cells = [row.result, *(cell for _, cell in row.figures)]
        digits = max(
            (len(re.sub(r"\D", "", number).lstrip("0")) for cell in cells for number in re.findall(r"\d*\.\d+", cell)),
            default=0,
        )
        measured_again = is_baseline(row) or REPEATS.search(row.change)
        if earlier is not row and row.change and digits >= DIGITS_MIN and not measured_again:
            again.setdefault(row.table, []).append((earlier, row))
    for earlier, row in (pair for pairs in again.values() if len(pairs) <= FEW for pair in pairs):
        others = [
            [cell.lower() for cell in cells_at.get(each.line, ()) if cell.strip("*` ") != each.name] for each in (earlier, row)
        ]
        if others[0] != others[1]:
            continue  # at another time, or with another setting
        text = f"'{one_line(row.change, 60)}' has the change and all figures of line {earlier.line}"
        yield Remark(flaw=Flaw.TWICE, line=row.line, rows=(row.label,), text=text)


def inside_ranges(rows: Sequence[Row]) -> Iterator[Remark]:
    """Yield a remark on each row whose id lies in the range (`90-97`) that another row of its table has for its id."""
    ranges = [(row, found) for row in rows if (found := RANGE.fullmatch(row.name)) and found[3] in ("", found[1])]
    for row in rows:
        own = NUMBERED.fullmatch(row.name)
        for other, found in ranges:
            if own and row.table == other.table and own[1] == found[1] and int(found[2]) <= int(own[2]) <= int(found[4]):
                text = f"{row.name} also lies in {other.name}, the row of line {other.line}: {one_line(other.change, 60)}"
                yield Remark(flaw=Flaw.REUSED_ID, line=row.line, rows=(row.label,), text=text)


def missing_numbers(document: Document, rows: Sequence[Row]) -> Iterator[Remark]:
    """Yield a remark where the ids of a table, else counted one by one, leave out some that stand nowhere in the document."""
    texts = [line.text for line in document.lines()]
    texts += [cell for table in document.tables for row in table.rows for cell in row.cells]
    named = set(re.findall(r"[A-Za-z]{0,4}-?\d{1,4}", " ".join(texts)))
    told: set[str] = set()
    read = {row.line: row for row in rows}
    for table in document.tables:
        for line, before, after, missing in _gaps(table, read):
            if named.isdisjoint(missing) and missing[0] not in told:
                told.update(missing)
                text = f"the ids go from {before} to {after}, and the file has no {', '.join(missing)}"
                yield Remark(flaw=Flaw.MISSING, line=line, rows=(after,), text=text)


def _gaps(table: Table, rows: Mapping[int, Row]) -> Iterator[tuple[int, str, str, tuple[str, ...]]]:
    """Yield each gap in the ids of a table of experiments: its line, the ids before and after it, and those it leaves out."""
    read = next((each for each in table.rows if each.line in rows), None)
    cells = [[cell.strip("*` ") for cell in each.cells] for each in table.rows]
    column = cells[table.rows.index(read)].index(rows[read.line].name) if read and rows[read.line].name in read.cells else -1
    if column < 0 or min(map(len, cells)) <= column:
        return
    found = [NUMBERED.fullmatch(each[column]) for each in cells]
    names = [(each.line, own[column]) for each, own in zip(table.rows, cells, strict=True)]
    if not all(found) or len({each[1] for each in found if each}) > 1:
        return
    numbers = [int(each[2]) for each in found if each]
    steps = [after - before for before, after in itertools.pairwise(numbers)]
    step = max((1, -1), key=steps.count)
    odd = [index for index, each in enumerate(steps) if each != step]
    if steps.count(step) < STEADY * len(steps) or len(odd) > FEW:
        return
    prefix = found[0][1] if found[0] else ""
    for index in odd:
        if 1 < steps[index] * step <= GAP_MAX:
            between = range(numbers[index] + step, numbers[index + 1], step)
            yield names[index + 1][0], names[index][1], names[index + 1][1], tuple(f"{prefix}{each}" for each in between)
