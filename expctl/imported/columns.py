"""Find out what each column of a hand-kept table holds, by its head, and by its cells where the head is ambiguous."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from expctl.imported.document import Table
from expctl.imported.heads import HEADS, Role
from expctl.imported.verdict_columns import (
    MEASURED,
    NO_MAP,
    SHARE,
    Map,
    explains_words,
    has_verdicts,
    plain_head,
    verdict_column,
)

LEADING_ID = re.compile(r"[\W_]*([A-Za-z]{1,4}-?\d+[a-z]?)(?![\w.=])(?!\s*[+&/])", re.ASCII)
NAME_MAX = 40
PROPER_HEAD = re.compile(r"[a-z]|")
DATE_LIKE = re.compile(
    r"\d{1,4}[-/.:]\d{1,2}|\b(?:jan|feb|mar|apr|mai|may|jun|jul|aug|sep|oct|okt|nov|dec|dez)|today|heute", re.IGNORECASE
)
NAME_LIKE = re.compile(r"[A-Za-z]{0,6}[-#.]?\d[\w.\-/]*|[0-9a-f]{7,40}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The index of the column for each role (None: the table has no such column); `figures` are all columns without a role."""

    name: int | None
    verdict: int
    change: int | None
    result: int | None
    why: int | None
    date: int | None
    figures: tuple[int, ...]

    def words(self, heads: Sequence[str]) -> str:
        """Return text for the user to check how each column is understood, e.g. `id = ID, verdict = Keep?, ...`."""
        pairs = zip(Role, (self.name, self.verdict, self.change, self.result, self.why, self.date), strict=True)
        named = [f"{role} = {heads[index] or '(no head)'}" for role, index in pairs if index is not None]
        others = [heads[index] or "(no head)" for index in self.figures]
        return ", ".join([*named, *([f"figures = {', '.join(others)}"] if others else [])])


def columns_of(table: Table, given: Map = NO_MAP) -> Columns | None:
    """Return the columns of `table` by role; None for a table without verdicts, or with neither ids nor changes."""
    plain = [plain_head(head) for head in table.heads]
    forced = {role: plain.index(plain_head(head)) for role, head in given.heads.items() if plain_head(head) in plain}
    verdict = forced.get(Role.VERDICT)
    if verdict is None or not has_verdicts(table, verdict, given):
        verdict = verdict_column(table, plain, given)
    if verdict is None or (not forced and explains_words(table, plain, verdict)):
        return None
    free = [index for index in range(len(plain)) if index != verdict and index not in forced.values()]

    def take(role: Role) -> int | None:
        if role in forced:
            return forced[role]
        fitting = [index for head in HEADS[role] if head for index in free if plain[index] == head]
        if role is Role.CHANGE:
            fitting.sort(key=lambda index: _repeats(table, index))
        found = next(iter(fitting), None)
        if found is not None:
            free.remove(found)
        return found

    numbered = next((index for index in free if table.heads[index].strip() == "#" and _name_like(table, index)), None)
    date = take(Role.DATE)
    if date is not None and Role.DATE not in forced and not _date_like(table, date):
        free.append(date)  # `tag` is a day in German, and a name in English
        free.sort()
        date = None
    if numbered is not None and Role.NAME not in forced:
        free.remove(numbered)
    name = numbered if numbered is not None and Role.NAME not in forced else take(Role.NAME)
    if name is not None and Role.NAME not in forced and not plain[name].endswith("id") and not _name_like(table, name):
        # A column `experiment` may contain the change.
        free.insert(0, name)
        name = None
    change = take(Role.CHANGE)
    why = take(Role.WHY)
    result = take(Role.RESULT)
    if name is None:
        # `candidate_id`, or a column of ids below a head that nobody foresaw
        ids = (index for index in free if plain[index].endswith(" id") or _letter_of_ids(table, plain, index))
        name = next((index for index in ids if _one_word(table, index) and _name_like(table, index)), None)
        free = [index for index in free if index != name]
    if change is None:
        named = {index for index in free if plain[index] in HEADS[Role.NAME]}
        change = _wordiest(table, [index for index in free if index not in named])
        change = _wordiest(table, free) if change is None else change
        if why is not None and change is not None and not any(" " in row.cells[change].strip() for row in table.rows):
            change, why = why, None  # a commit beside notes, which say what was tried
        free = [index for index in free if index != change]
    if name is None and change is not None and plain[change] not in HEADS[Role.NAME]:
        # ... or a word for each experiment, beside a column of changes.
        name = next((index for index in free if plain[index] in HEADS[Role.NAME] and _one_word(table, index)), None)
        free = [index for index in free if index != name]
    if name is None:
        name = next((index for index in free if not plain[index] and _name_like(table, index)), None)
        free = [index for index in free if index != name]
    if change is None and why is not None:
        change, why = why, None
    if change is None and name is None:
        return None
    return Columns(name=name, verdict=verdict, change=change, result=result, why=why, date=date, figures=tuple(free))


def _name_like(table: Table, index: int) -> bool:
    cells = [row.cells[index].strip("`*# ") for row in table.rows]
    return sum(bool(NAME_LIKE.fullmatch(cell)) for cell in cells) >= SHARE * len(cells) > 0


def name_in_change(text: str) -> str:
    """Return the id that begins the words of a change, e.g. `E1` of `**E1** cache the tract`; "" without one."""
    found = LEADING_ID.match(text)
    return found[1] if found else ""


def ids_inside(table: Table, columns: Columns) -> bool:
    """Return whether the cells of the changes begin with ids, in a table without a column for them."""
    if columns.name is not None or columns.change is None:
        return False
    cells = [row.cells[columns.change] for row in table.rows]
    names = [name for name in map(name_in_change, cells) if name]
    return len(names) >= SHARE * len(cells) > 1 and len(set(names)) == len(names)


def _letter_of_ids(table: Table, plain: Sequence[str], index: int) -> bool:
    """Return whether a column below a letter or no head can hold ids: none of its cells is a figure with decimals."""
    figures = any(re.fullmatch(r"[-+]?\d*\.\d+", row.cells[index].strip("`* ")) for row in table.rows)
    return bool(PROPER_HEAD.fullmatch(plain[index])) and not figures


def _date_like(table: Table, index: int) -> bool:
    cells = [row.cells[index] for row in table.rows if row.cells[index].strip()]
    return sum(bool(DATE_LIKE.search(cell)) for cell in cells) >= SHARE * len(cells)


def _repeats(table: Table, index: int) -> bool:
    """Return whether one text stands in half of the cells of a column: `decode` in each line is no change."""
    cells = [row.cells[index] for row in table.rows]
    return len(cells) > 1 and 2 * max(map(cells.count, cells)) >= len(cells)


def _one_word(table: Table, index: int) -> bool:
    cells = [row.cells[index].strip("`*# ") for row in table.rows]
    words = sum(bool(cell) and len(cell) <= NAME_MAX and not re.search(r"\s", cell) for cell in cells)
    return words >= SHARE * len(cells) > 0 and len(set(cells)) >= SHARE * len(cells)


def _wordiest(table: Table, free: Sequence[int]) -> int | None:
    """Return the column of `free` that tells most, and not in figures: it holds what was tried. None if there is none."""

    def words(index: int) -> float:
        cells = [row.cells[index] for row in table.rows]
        if len(set(cells)) <= max(1, len(cells) // 4):
            return 0.0  # a flag, such as `true` or `success`
        told = [cell for cell in cells if re.search(r"[^\W\d_]{2}", cell) and not MEASURED.match(cell)]
        return len(told) / len(cells) if cells else 0.0

    return next((index for index in free if words(index) >= SHARE), None)
