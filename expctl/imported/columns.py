"""Find out what each column of a hand-kept table holds, by its head, and by its cells where the head is ambiguous."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from expctl.imported.document import Table
from expctl.imported.verdicts import speaks_of_verdicts


class Role(StrEnum):
    """What a column of a hand-kept table can hold: id, verdict, change, result, reason or date."""

    NAME = "id"
    VERDICT = "verdict"
    CHANGE = "change"
    RESULT = "result"
    WHY = "reason"
    DATE = "date"


def _heads(text: str) -> tuple[str, ...]:
    return tuple(" ".join(head.split()) for head in text.split(","))


# Best head first. `outcome` and `result` occur twice: the cells decide whether they are verdicts or figures.
HEADS = {
    Role.NAME: _heads(
        """id, exp, exp id, experiment id, no, nr, number, run, run id, attempt, iter, iteration, index, step, trial, version,
        ver, experiment, nummer, versuch, lauf, kennung, schritt"""
    ),
    Role.VERDICT: _heads(
        """keep, kept, keep reject, verdict, status, decision, outcome, accepted, accept, state, action, result, urteil,
        entscheidung, behalten, bewertung, ausgang, stand, ergebnis"""
    ),
    Role.CHANGE: _heads(
        """change, changes, description, idea, optimization, optimisation, modification, hypothesis, what, what changed,
        what was tried, tried, approach, technique, title, name, variant, kernel, experiment, patch, proposal,
        änderung, änderungen, idee, beschreibung, maßnahme, was, versuch, ansatz, titel, variante"""
    ),
    Role.RESULT: _heads(
        """result, results, key result, outcome, measurement, measured, effect, impact, figures, numbers, metric, ergebnis,
        ergebnisse, messung, gemessen, wirkung, messwert, messwerte, ausgang"""
    ),
    Role.WHY: _heads(
        """why, reason, reasons, note, notes, comment, comments, explanation, because, learning, lesson, takeaway, remark,
        remarks, rationale, analysis, warum, grund, gründe, begründung, bemerkung, bemerkungen, anmerkung, anmerkungen, notiz,
        notizen, kommentar, erkenntnis"""
    ),
    Role.DATE: _heads("date, day, when, timestamp, time stamp, datum, tag, wann, zeitpunkt"),
}
SHARE = 0.6
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


def columns_of(table: Table) -> Columns | None:
    """Return the columns of `table` by role; None for a table without verdicts, or with neither ids nor changes."""
    plain = [_plain(head) for head in table.heads]
    verdict = _verdict_column(table, plain)
    if verdict is None:
        return None
    free = [index for index in range(len(plain)) if index != verdict]

    def take(role: Role) -> int | None:
        found = next((index for head in HEADS[role] for index in free if plain[index] == head), None)
        if found is not None:
            free.remove(found)
        return found

    date = take(Role.DATE)
    name = take(Role.NAME)
    if name is not None and not plain[name].endswith("id") and not _name_like(table, name):
        # A column `experiment` may contain the change.
        free.insert(0, name)
        name = None
    change = take(Role.CHANGE)
    why = take(Role.WHY)
    result = take(Role.RESULT)
    if name is None:
        heads = ("", "commit", "sha", "hash")
        name = next((index for index in free if plain[index] in heads and _name_like(table, index)), None)
        free = [index for index in free if index != name]
    if change is None and name is None:
        return None
    return Columns(name=name, verdict=verdict, change=change, result=result, why=why, date=date, figures=tuple(free))


def why_no_ledger(table: Table) -> str:
    """Return in words why `table` is no ledger of experiments, e.g. that too few cells below `Verdict` are verdicts."""
    for index, head in enumerate(table.heads):
        cells = [row.cells[index] for row in table.rows if row.cells[index].strip()]
        recognised = sum(map(speaks_of_verdicts, cells))
        if _plain(head) in HEADS[Role.VERDICT] and 0 < recognised < SHARE * len(cells):
            return f"{recognised} of {len(cells)} cells below {head!r} are recognised as verdicts, too few for a ledger"
    return "not a ledger, which needs a column of verdicts, and one of ids or changes"


def _verdict_column(table: Table, plain: Sequence[str]) -> int | None:
    """Return the index of the column that holds the verdicts; None if there is none.

    It is the one with the most cells recognised as verdicts, those with a fitting head (in `plain`) first. They must be 60 % of
    its cells, or 90 % without such a head.
    """
    words = HEADS[Role.VERDICT]
    best: tuple[float, int] | None = None
    for index, head in enumerate(plain):
        cells = [row.cells[index] for row in table.rows if row.cells[index].strip()]
        share = sum(map(speaks_of_verdicts, cells)) / len(cells) if cells else 0.0
        needed = SHARE if head in words else 0.9
        if cells and share >= needed and (best is None or share + (head in words) > best[0]):
            best = (share + (head in words), index)
    return best[1] if best else None


def _name_like(table: Table, index: int) -> bool:
    cells = [row.cells[index].strip("`*# ") for row in table.rows]
    return sum(bool(NAME_LIKE.fullmatch(cell)) for cell in cells) >= SHARE * len(cells) > 0


def _plain(head: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", unicodedata.normalize("NFC", head).lower()).split())
