"""Turn rows of a hand-kept ledger into imported records, which hold the author's words and the audit's remarks."""

import re
from collections.abc import Container, Mapping, Sequence

from msgspec.structs import replace

from expctl.domain.experiment.history import History
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import Origin, Record, Rule
from expctl.domain.protocol.model import NumberKind, Protocol
from expctl.domain.text import one_line
from expctl.imported.document import Document
from expctl.imported.emphasis import unmarked
from expctl.imported.ids import FILE, ROW, NamedEntry
from expctl.imported.remarks import Flaw, Remark

ARCHITECTURE = re.compile(r"\b(?:gfx\d+[0-9a-f]{2}|sm_\d+a?)\b", re.ASCII)
TITLE_MAX = 100


def stated_target(document: Document) -> str:
    """Return the architecture, e.g. gfx942, that the title of the ledger names; "" when it names none or several."""
    named = set(ARCHITECTURE.findall(document.title))
    return named.pop() if len(named) == 1 else ""


def number_kind_of(protocol: Protocol, target: str) -> NumberKind:
    """Return the kind of time that the protocol's `target` measures; wall time if the protocol has no such target."""
    found = protocol.targets.get(target)
    return found.number_kind if found else NumberKind.WALL_TIME


def records_of(
    named: Sequence[NamedEntry],
    remarks: Sequence[Remark],
    rules: Mapping[int, str],
    *,
    file: str,
    target: str,
    number_kind: NumberKind,
) -> tuple[Record, ...]:
    """Return one imported record for each entry in `named`, in order.

    `remarks` are those of the audit that a person accepted: they become corrections in the records. `rules` maps a row's line
    number to a do-not-repeat text. `file` is the ledger's name, `target` the architecture it is about.
    """
    beside: dict[int, list[NamedEntry]] = {}
    for each in named:
        beside.setdefault(each.entry.row.line, []).append(each)
    lines = {each.entry.row.line for each in named}
    return tuple(
        _record(
            each,
            notes=_notes(each, beside[each.entry.row.line]),
            corrections=accepted_texts(remarks, each, lines),
            rule=_rule(each, rules, target),
            file=file,
            target=target,
            number_kind=number_kind,
        )
        for each in named
    )


def updated_record(before: Record, after: Record) -> Record:
    """Return the record of a row that was rewritten: what the row says now, and what persons have corrected or noted."""
    kept = before.history.corrections if before.history else ()
    history = replace(after.history, corrections=_once(*kept, *after.history.corrections)) if after.history else None
    said = f"The row said {before.verdict} when it was imported first ({before.reasons[0]})." if before.reasons else ""
    notes = _once(*before.notes, *after.notes, *([said] if before.verdict is not after.verdict else []))
    return replace(after, history=history, notes=notes)


def corrected(record: Record, texts: Sequence[str]) -> Record:
    """Return an imported record with remarks of the audit that a person accepted."""
    if record.history is None:
        return record
    return replace(record, history=replace(record.history, corrections=_once(*record.history.corrections, *texts)))


def accepted_texts(remarks: Sequence[Remark], each: NamedEntry, lines: Container[int]) -> list[str]:
    """Return the texts of `remarks` that concern one entry of the ledger; `lines` are those of all its rows."""
    texts = _corrections(remarks, lines)
    return texts.get((each.entry.row.line, ""), []) + texts.get((0, each.entry.row.label), [])


def _once(*texts: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _corrections(remarks: Sequence[Remark], lines: Container[int]) -> Mapping[tuple[int, str], list[str]]:
    """Return the texts of `remarks`, grouped by the records that they will be added to; `lines` are those of the rows.

    The key is (line, "") for a remark on the row in that line, and (0, id) for a reused id and for a remark on text outside
    tables that names rows.
    """
    texts: dict[tuple[int, str], list[str]] = {}
    for remark in remarks:
        of_the_row = remark.line in lines and remark.flaw is not Flaw.REUSED_ID
        for key in [(remark.line, "")] if of_the_row and remark.rows else [(0, label) for label in remark.rows]:
            texts.setdefault(key, []).append(remark.text)
    return texts


def _record(
    named: NamedEntry,
    *,
    notes: Sequence[str],
    corrections: Sequence[str],
    rule: Rule | None,
    file: str,
    target: str,
    number_kind: NumberKind,
) -> Record:
    entry, row, ruling = named.entry, named.entry.row, named.entry.ruling
    why = row.why or "no reason was written down"
    tried = row.change or entry.name
    result = row.results() or "no result was written down"
    return Record(
        id=named.id,
        title=one_line(unmarked(tried).replace("`", ""), TITLE_MAX),
        kind=ruling.kind or Kind.PERF,
        origin=Origin.IMPORTED,
        target=target,
        verdict=ruling.verdict,
        reasons=(f"imported, decided by hand ('{ruling.words}'): {why}",),
        content=entry.content,
        date=row.date,
        environment={FILE: file, ROW: entry.key},
        number_kind=number_kind,
        notes=tuple(notes),
        rule=rule,
        history=History(change=tried, result=result, why=why, corrections=tuple(corrections)),
    )


def _notes(named: NamedEntry, beside: Sequence[NamedEntry]) -> list[str]:
    entry = named.entry
    notes = [named.note] if named.note else []
    others = [each for each in beside if each is not named]
    if len(entry.row.rulings) > 1:
        words = " / ".join(ruling.words for ruling in entry.row.rulings)
        parts = [each.id for each in others if each.entry.name == entry.name]
        also = f"; the other is {', '.join(parts)}" if parts else ""
        notes.append(
            f"The hand-kept row {entry.name or entry.row.line} ruled '{words}'. One verdict is one record: this is "
            f"'{entry.ruling.words}'{also}."
        )
    shared = [each.id for each in others if each.entry.name != entry.name]
    if shared:
        notes.append(f"One hand-kept row holds this and {', '.join(shared)}: change, result and reason are of all.")
    return notes


def _rule(named: NamedEntry, rules: Mapping[int, str], target: str) -> Rule | None:
    """Return the do-not-repeat rule for a record, None if it needs none. Its text is that in `rules` for the row's line (for a
    row with several verdicts, only its REJECT gets it), else for a REJECT the row's change.
    """
    row = named.entry.row
    last = named.entry.ruling.verdict is Verdict.REJECT or all(ruling.verdict is not Verdict.REJECT for ruling in row.rulings)
    text = rules.get(row.line, "") if last else ""
    if not text and named.entry.ruling.verdict is not Verdict.REJECT:
        return None
    return Rule(text=text or row.change or named.entry.name, conditions={"architecture": target})
