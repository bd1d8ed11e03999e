"""Find out what each column of a hand-kept table holds, by its head, and by its cells where the head is ambiguous."""

import dataclasses
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import Table
from expctl.imported.heads import AGAINST, ASKING, CLAIMED, ELSEWHEN, HEADS, MEANING, OF_CHANGES, STRONG, TRIED, Role
from expctl.imported.outcomes import outcome_of_cell
from expctl.imported.verdicts import (
    Dialect,
    is_answer,
    means_by_map,
    opens_with_verdict,
    rulings,
    speaks_of_verdicts,
    spelled_out,
    tells_tests,
)
from expctl.imported.vocabulary import BITS, DECIDED, MARKED, MARKS, PATTERNS, PENDING

SHARE = 0.6
SHARE_STRONG = 0.3
SHARE_HEADLESS = 0.9
MEASURED = re.compile(r"\d\s*(?:%|x\b|×|[munµ]?s\b|[kMGT]?(?:FLOPS?|B)\b|fps|cycles|[a-z]+/s)|^[-+~]?\d[\d,.]*$", re.IGNORECASE)
UNDONE = re.compile(r"revert|reject|discard|rolled back|dropped|removed|verworfen|zurückgenommen", re.IGNORECASE)
SAID_MIN = 2
DECISIONS = Dialect(answers=False, marks=False)
SHORT_CELL = 60
LEGEND_MIN = 3
# `| < 0.5 % | any | DISCARD |` and `| if parity breaks | REVERT |` say what would be decided.
RULES = re.compile(
    r"\b(?:decision|verdict|keep|acceptance|promotion) (?:combined )?"
    r"(?:table|matrix|rules?|criteria|gates?|logic|policy|thresholds?|tree)\b"
    r"|\bentscheidungs(?:regeln?|tabelle|matrix)\b",
    re.IGNORECASE,
)
CONDITION = re.compile(
    r"[*`_\s]*(?:if|when|wenn|falls)\b|[*`_\s]*(?:[\w|Δ%.]+\s+){0,3}(?:[\w|Δ%.]+\s*)?[<>≤≥]=?\s*[-+±−]?\d", re.IGNORECASE
)
# `ported and kept`, `tested and rejected for this path`
DONE_AND = re.compile(r"(?:ported|implemented|tested|tried|built|measured|benchmarked) and (?:then )?", re.IGNORECASE)
WHERE = re.compile(r"\W*|\s+(?:for|in|on|by)\b[^.;]*", re.IGNORECASE)
TESTED = re.compile(r"\W*(?:pass(?:ed|es)?|ok|completed?|done)\b", re.IGNORECASE)
DIFFERENCE = re.compile(r"[*`~≈ ]*[-+−–±]?\d")
NO_WORDS = re.compile(r"^\W+|\W+$")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """What the user says about a ledger. `heads` are column heads by role, `meanings` verdicts by words in small letters (None:
    no verdict yet), `lines` verdicts by the text of a line. `marked` are heads below which check marks are verdicts, as other
    cells bear out.
    """

    heads: Mapping[Role, str] = field(default_factory=dict)
    meanings: Mapping[str, Verdict | None] = field(default_factory=dict)
    lines: Mapping[str, Verdict | None] = field(default_factory=dict)
    marked: frozenset[str] = frozenset()


NO_MAP = Map()


def columns_of(table: Table, given: Map = NO_MAP) -> Columns | None:
    """Return the columns of `table` by role; None for a table without verdicts, or with neither ids nor changes."""
    plain = [plain_head(head) for head in table.heads]
    forced = {role: plain.index(plain_head(head)) for role, head in given.heads.items() if plain_head(head) in plain}
    verdict = forced.get(Role.VERDICT)
    if verdict is None or not _has_verdicts(table, verdict, given):
        verdict = _verdict_column(table, plain, given)
    if verdict is None or (not forced and _explains(table, plain, verdict)):
        return None
    free = [index for index in range(len(plain)) if index != verdict and index not in forced.values()]

    def take(role: Role) -> int | None:
        if role in forced:
            return forced[role]
        found = next((index for head in HEADS[role] if head for index in free if plain[index] == head), None)
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


def dialect_of(table: Table, index: int, given: Map = NO_MAP) -> Dialect:
    """Return how the cells of column `index` state verdicts: whether yes, a check mark, `failed`, `better` is one there."""
    head = plain_head(table.heads[index])
    asks = head in ASKING or head == plain_head(given.heads.get(Role.VERDICT, "\0"))
    measured = any(MEASURED.search(cell) for row in table.rows for at, cell in enumerate(row.cells) if at != index)
    cells = [row.cells[index] for row in table.rows]
    decided = any(DECIDED.search(cell) for cell in cells)
    tried = any(plain_head(each) in TRIED for each in table.heads)
    claimed = any(plain_head(each) in CLAIMED for each in table.heads) and not tried
    marks = (asks and not claimed) or (measured and tried and head in HEADS[Role.VERDICT]) or decided or head in given.marked
    bits = asks and {cell.strip() for cell in cells} == set(BITS)
    told = any(DECIDED.fullmatch(NO_WORDS.sub("", cell)) for cell in cells) or _failed_is_verdict(table, index)
    tests = tells_tests(cells) and not told
    outcomes = head in STRONG and measured and not claimed and _of_changes(table)
    return Dialect(answers=asks, bits=bits, marks=marks, tests=tests, outcomes=outcomes, meanings=given.meanings)


def marked_heads(tables: Sequence[Table]) -> frozenset[str]:
    """Return the heads below which check marks are verdicts, because what stands beside them in one of `tables` bears it out."""
    heads = ((table, index, plain_head(head)) for table in tables for index, head in enumerate(table.heads) if head)
    return frozenset(head for table, index, head in heads if _borne_out(table, index))


def _borne_out(table: Table, index: int) -> bool:
    """Return whether crosses in column `index` stand beside cells that begin with a rejection, and nowhere beside a keep."""
    beside = [
        {verdict for at, cell in enumerate(row.cells) if at != index and (verdict := opens_with_verdict(cell, DECISIONS))}
        for row in table.rows
        if MARKED.get(row.cells[index].strip("*` \ufe0f")) is Verdict.REJECT
    ]
    return sum(each == {Verdict.REJECT} for each in beside) >= SAID_MIN and not any(Verdict.KEEP in each for each in beside)


def _verdict_column(table: Table, plain: Sequence[str], given: Map) -> int | None:
    """Return the index of the column that holds the verdicts; None if there is none.

    It is one of which 30 % of the cells begin with words that a user gave; else the one with the most cells recognised as
    verdicts, those with a fitting head (in `plain`) first. They must be 30 % of
    its cells below a head like Verdict, 60 % below one like Status, and 90 % below any other, which must also be short and say
    what was decided.
    """
    best: tuple[float, int] | None = None
    for index, head in enumerate(plain):
        cells = [spelled_out(row.cells[index]) for row in table.rows if row.cells[index].strip()]
        if set(head.split()) & ELSEWHEN:
            continue
        dialect = dialect_of(table, index, given)
        said = sum(means_by_map(cell, dialect) for cell in cells)
        if said >= SAID_MIN and said >= SHARE_STRONG * len(cells) and (best is None or best[0] < 2 + said / len(cells)):
            best = (2 + said / len(cells), index)
        recognised = [
            cell for cell in cells if speaks_of_verdicts(cell, dialect) or (dialect.outcomes and outcome_of_cell(cell))
        ]
        share = len(recognised) / len(cells) if cells else 0.0
        rank = (
            2
            if head in STRONG
            else 1
            if head in HEADS[Role.VERDICT] or set(head.split()) & {*STRONG, "status", "outcome"}
            else 0
        )
        needed = (SHARE_HEADLESS, SHARE, SHARE_STRONG)[rank]
        bare = [DONE_AND.sub("", NO_WORDS.sub("", cell)) for cell in recognised]
        if rank == 1 and len(bare) > 1 and all(map(_is_bare, bare)):
            needed = SHARE_STRONG  # `REVERTED` alone in a cell is no result
        told = sum(_tells_decision(cell, dialect) for cell in recognised)
        if rank == 2 and not told and not any(is_answer(cell) for cell in cells) and not _of_changes(table):
            continue  # what became of sizes and inputs, such as `OOM`
        if rank < 2 and 2 * told < len(recognised) and not _failed_is_verdict(table, index):
            continue  # results, such as `identical` or `neutral`
        if rank == 0 and not all(len(cell) <= SHORT_CELL and DECIDED.search(cell) for cell in recognised):
            continue
        if rank == 0 and 2 * sum(opens_with_verdict(cell, dialect) is not None for cell in recognised) < len(recognised):
            continue  # `exit 1, source kept`
        if rank == 1 and _is_feature_table(table, index, recognised):
            continue
        score = share + rank / 4
        if recognised and share >= needed and (best is None or score > best[0]):
            best = (score, index)
    return best[1] if best else None


def _has_verdicts(table: Table, index: int, given: Map) -> bool:
    """Return whether a cell of the column that a user named is understood, or the user gave no words that it might say."""
    dialect = dataclasses.replace(dialect_of(table, index, given), inside=True)
    return not given.meanings or any(rulings(row.cells[index], dialect) for row in table.rows)


def _of_changes(table: Table) -> bool:
    """Return whether a column of a table has a head that names changes or experiments."""
    return any(plain_head(head) in {*OF_CHANGES, *HEADS[Role.CHANGE]} for head in table.heads)


def _is_bare(cell: str) -> bool:
    """Return whether a cell says what was decided, and where or why, but nothing else: `rejected for this path`."""
    word = DECIDED.match(cell)
    return bool(PENDING.fullmatch(cell) or (word and WHERE.fullmatch(cell[word.end() :])))


def _explains(table: Table, plain: Sequence[str], verdict: int) -> bool:
    """Return whether a table explains the words of verdicts: one word in each row, none twice, and beside it what it means."""
    cells = [[cell for at, cell in enumerate(row.cells) if at != verdict] for row in table.rows]
    if RULES.search(table.section) or 2 * sum(any(map(CONDITION.match, each)) for each in cells) > len(cells):
        return True
    if len(plain) != 2 or verdict != 0:
        return False
    words = [NO_WORDS.sub("", row.cells[verdict]) for row in table.rows]
    bare = all(any(pattern.fullmatch(word) for _, pattern in PATTERNS) or PENDING.fullmatch(word) for word in words)
    return plain[1] in MEANING or (bare and len(words) >= LEGEND_MIN and len(set(words)) == len(words))


def _failed_is_verdict(table: Table, index: int) -> bool:
    """Return whether changes that are held against a baseline in figures stand beside column `index`, which tells no tests."""
    plain = [plain_head(head) for head in table.heads]
    if plain_head(table.heads[index]) not in HEADS[Role.VERDICT] or not set(plain) & set(OF_CHANGES):
        return False
    if any(TESTED.match(row.cells[index]) for row in table.rows):
        return False
    beside = [at for at, head in enumerate(plain) if at != index and head.startswith(AGAINST)]
    compared = [row for row in table.rows if any(DIFFERENCE.match(row.cells[at]) for at in beside)]
    return len(compared) >= SHARE * len(table.rows) > 0


def _is_feature_table(table: Table, index: int, cells: Sequence[str]) -> bool:
    """Return whether a table says with check marks what there is: a mark in each cell, no word for what was undone, and nothing
    measured beside it.
    """
    rows = [[cell for at, cell in enumerate(row.cells) if at != index] for row in table.rows]
    measured = 2 * sum(any(map(MEASURED.search, others)) for others in rows) > len(rows)
    marked = all(MARKS.match(cell.strip("* ")) for cell in cells)
    return marked and len(cells) > 1 and not measured and not any(UNDONE.search(cell) for cell in cells)


def _tells_decision(cell: str, dialect: Dialect) -> bool:
    meant = any(words in cell.lower() for words in dialect.meanings)
    return meant or bool(DECIDED.search(cell)) or is_answer(cell) or bool(PENDING.search(cell))


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


def plain_head(head: str) -> str:
    """Return a head as it is compared: small letters, without marks."""
    return " ".join(re.sub(r"[\W_]+", " ", unicodedata.normalize("NFC", head).lower()).split())
