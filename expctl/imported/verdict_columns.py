"""Find the column of a hand-kept table that holds its verdicts, and how its cells state them."""

import dataclasses
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import Table
from expctl.imported.heads import AGAINST, ASKING, CLAIMED, ELSEWHEN, GATED, HEADS, MEANING, OF_CHANGES, STRONG, TRIED, Role
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
from expctl.imported.vocabulary import BITS, DECIDED, MARKED, MARKS, PASSED, PATTERNS, PENDING

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

HEAD = "verdict"
FIRST = re.compile(r"^\W*baseline\b|\bbaseline\s*:|[-_]baseline$", re.IGNORECASE)
NO_WORD = "(no word)"
INSIDE_MIN = 3
# In capitals where a part of the cell begins, or as its last part
SAID_INSIDE = re.compile(
    r"(?:(?:^|[:.;,(\[|]\s*|\s[-–—]+\s|(?:→|->)\s*)[*_`\"]*"
    r"(?P<shouted>KEEP|KEPT|REVERT(?:ED)?|DISCARD(?:ED)?|REJECT(?:ED)?)\b(?!\s*(?:if|unless|\?))"
    r"|[,;(–—-]\s*(?:and |then |was )?(?P<ends>kept|reverted|discarded|rejected)[)\W]*$)"
)
SHOUTED = re.compile(r"[*_`]*(?:REVERT(?:ED)?|DISCARD(?:ED)?|REJECT(?:ED)?)[*_`]*")


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


def dialect_of(table: Table, index: int, given: Map = NO_MAP) -> Dialect:
    """Return how the cells of column `index` state verdicts: whether yes, a check mark, `failed`, `better` is one there."""
    head = plain_head(table.heads[index])
    asks = head in ASKING or head == plain_head(given.heads.get(Role.VERDICT, "\0"))
    measured = any(MEASURED.search(cell) for row in table.rows for at, cell in enumerate(row.cells) if at != index)
    cells = [row.cells[index] for row in table.rows]
    decided = any(DECIDED.search(cell) for cell in cells)
    tried = any(plain_head(each) in TRIED for each in table.heads)
    names = [plain_head(each).split()[-1:] for each in table.heads]
    claimed = (any(set(name) & set(CLAIMED) for name in names) or bool(set(names[0]) & set(GATED))) and not tried
    marks = (asks and not claimed) or (measured and tried and head in HEADS[Role.VERDICT]) or decided or head in given.marked
    bits = asks and {cell.strip() for cell in cells} == set(BITS)
    told = any(DECIDED.fullmatch(NO_WORDS.sub("", cell)) for cell in cells) or _failed_is_verdict(table, index)
    tests = tells_tests(cells) and not (told and not {"pass", "fail"} <= {cell.lower() for cell in cells})
    outcomes = head in STRONG and measured and not claimed and _of_changes(table)
    return Dialect(answers=asks, bits=bits, marks=marks, tests=tests, outcomes=outcomes, meanings=given.meanings)


def marked_heads(tables: Sequence[Table]) -> frozenset[str]:
    """Return the heads below which check marks are verdicts, because cells beside them in one of `tables` bear it out."""
    heads = ((table, index, plain_head(head)) for table in tables for index, head in enumerate(table.heads))
    return frozenset(head for table, index, head in heads if head in HEADS[Role.VERDICT] and _borne_out(table, index))


def _borne_out(table: Table, index: int) -> bool:
    """Return whether most crosses in column `index` stand beside cells that begin with a rejection, none beside a keep, and no
    check mark beside a rejection.
    """
    beside: dict[Verdict | None, list[set[Verdict]]] = {Verdict.REJECT: [], Verdict.KEEP: []}
    for row in table.rows:
        others = (cell for at, cell in enumerate(row.cells) if at != index)
        said = {verdict for cell in others if (verdict := opens_with_verdict(cell, DECISIONS))}
        beside.setdefault(MARKED.get(row.cells[index].strip("*` \ufe0f")), []).append(said)
    crosses, checks = beside[Verdict.REJECT], beside[Verdict.KEEP]
    borne = sum(said == {Verdict.REJECT} for said in crosses)
    against = any(Verdict.KEEP in said for said in crosses) or any(Verdict.REJECT in said for said in checks)
    return borne >= max(SAID_MIN, SHARE * len(crosses)) and not against


def verdict_column(table: Table, plain: Sequence[str], given: Map) -> int | None:
    """Return the index of the column that holds the verdicts; None if there is none.

    It is one of which 30 % of the cells begin with words that a user gave; else the one with the most cells recognised as
    verdicts, those with a fitting head (in `plain`) first. They must be 30 % of
    its cells below a head like Verdict, 60 % below one like Status, and 90 % below any other, which must also be short and say
    what was decided.
    """
    best: tuple[float, int] | None = None
    for index, head in enumerate(plain):
        cells = [spelled_out(row.cells[index]) for row in table.rows if row.cells[index].strip() not in ("", NO_WORD)]
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
        answered = dialect.bits or any(is_answer(cell) for cell in cells)
        if rank == 2 and not told and not answered and not _of_changes(table):
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


def has_verdicts(table: Table, index: int, given: Map) -> bool:
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


def explains_words(table: Table, plain: Sequence[str], verdict: int) -> bool:
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


def plain_head(head: str) -> str:
    """Return a head as it is compared: small letters, without marks."""
    return " ".join(re.sub(r"[\W_]+", " ", unicodedata.normalize("NFC", head).lower()).split())


def ruled_inside(table: Table) -> Table | None:
    """Return `table` with a column of the verdicts that the cells of one of its columns contain; None where no column does.

    A row without such a word gets the cell `(no word)`: that the author kept it isn't said.
    """
    best = max(range(len(table.heads)), key=lambda index: _count_inside(table, index), default=None)
    if best is None:
        return None
    alone = sum(bool(SHOUTED.fullmatch(row.cells[best])) for row in table.rows) >= INSIDE_MIN and _measured(table)
    if _count_inside(table, best) < (INSIDE_MIN if alone else max(INSIDE_MIN, SHARE_STRONG * len(table.rows))):
        return None
    rows = []
    for row in table.rows:
        word = _word_inside(row.cells[best])
        first = word or ("baseline" if any(map(FIRST.search, row.cells)) else NO_WORD)
        rows.append(dataclasses.replace(row, cells=(*row.cells, first)))
    return dataclasses.replace(table, heads=(*table.heads, HEAD), rows=tuple(rows))


def words_beside(table: Table) -> str:
    """Return the head of a column whose cells mostly are one word for a verdict or a test (`KILL`, `PASS`); "" without one."""
    for index, head in enumerate(table.heads):
        words = [NO_WORDS.sub("", row.cells[index]) for row in table.rows]
        said = sum(bool(PASSED.fullmatch(word)) or any(each.fullmatch(word) for _, each in PATTERNS) for word in words)
        if head and said >= SHARE * len(words) and any(map(DECIDED.fullmatch, words)):
            return head
    return ""


def _measured(table: Table) -> bool:
    return 2 * sum(any(map(MEASURED.search, row.cells)) for row in table.rows) > len(table.rows)


def _count_inside(table: Table, index: int) -> int:
    return sum(bool(_word_inside(row.cells[index])) for row in table.rows)


def _word_inside(cell: str) -> str:
    """Return the one word of a verdict in a cell; "" without one, or with two."""
    found = {(match["shouted"] or match["ends"]).lower() for match in SAID_INSIDE.finditer(cell)}
    return found.pop() if len(found) == 1 else ""
