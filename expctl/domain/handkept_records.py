"""Rows of a hand-kept ledger as records of origin imported. The words stay the author's; nothing is added but the audit."""

import re
from collections.abc import Mapping, Sequence

from expctl.domain.experiment import Kind, Verdict
from expctl.domain.handkept import Document
from expctl.domain.handkept_audit import Remark
from expctl.domain.handkept_ids import FILE, ROW, Named
from expctl.domain.protocol import NumberKind, Protocol
from expctl.domain.record import History, Origin, Record, Rule
from expctl.domain.text import one_line

ARCHITECTURE = re.compile(r"\b(?:gfx\d+[0-9a-f]{2}|sm_\d+a?)\b", re.ASCII)
TITLE_MAX = 100


def stated_target(document: Document) -> str:
    """The only architecture that the title names; empty when it names none or several."""
    named = set(ARCHITECTURE.findall(document.title))
    return named.pop() if len(named) == 1 else ""


def number_kind_of(protocol: Protocol, target: str) -> NumberKind:
    """What the target's clock is by the protocol. A hand-kept ledger seldom says it."""
    found = protocol.targets.get(target)
    return found.number_kind if found else NumberKind.WALL_TIME


def records_of(
    named: Sequence[Named],
    remarks: Sequence[Remark],
    rules: Mapping[int, str],
    *,
    file: str,
    target: str,
    number_kind: NumberKind,
) -> tuple[Record, ...]:
    """One record per entry, in the order of the file."""
    return tuple(
        _record(
            each,
            named,
            [remark for remark in remarks if each.entry.row.label in remark.rows],
            rules,
            file,
            target,
            number_kind,
        )
        for each in named
    )


def _record(
    named: Named,
    all_named: Sequence[Named],
    remarks: Sequence[Remark],
    rules: Mapping[int, str],
    file: str,
    target: str,
    number_kind: NumberKind,
) -> Record:
    entry = named.entry
    row, ruling = entry.row, entry.ruling
    result, why = row.results(), row.why or "no reason was written down"
    tried = row.change or entry.name
    return Record(
        id=named.id,
        title=one_line(re.sub(r"[`*]", "", tried), TITLE_MAX),
        kind=ruling.kind or Kind.PERF,
        origin=Origin.IMPORTED,
        target=target,
        verdict=ruling.verdict,
        reasons=(f"imported, decided by hand ('{ruling.words}'): {why}",),
        content=entry.content,
        date=row.date,
        environment={FILE: file, ROW: entry.key},
        number_kind=number_kind,
        notes=tuple(_notes(named, all_named)),
        rule=_rule(named, tried, rules, target),
        history=History(
            change=tried,
            result=result or "no result was written down",
            why=why,
            corrections=tuple(remark.text for remark in remarks),
        ),
    )


def _notes(named: Named, all_named: Sequence[Named]) -> list[str]:
    entry = named.entry
    notes = [named.note] if named.note else []
    others = [each for each in all_named if each.entry.row is entry.row and each is not named]
    parts = [each for each in others if each.entry.name == entry.name]
    if len(entry.row.rulings) > 1:
        said = " / ".join(ruling.words for ruling in entry.row.rulings)
        also = f"; the other is {', '.join(each.id for each in parts)}" if parts else ""
        notes.append(
            f"The hand-kept row {entry.name or entry.row.line} ruled '{said}'. One verdict is one record: this is "
            f"'{entry.ruling.words}'{also}."
        )
    shared = [each.id for each in others if each.entry.name != entry.name]
    if shared:
        notes.append(f"One hand-kept row holds this and {', '.join(shared)}: change, result and reason are of all.")
    return notes


def _rule(named: Named, tried: str, rules: Mapping[int, str], target: str) -> Rule | None:
    """The do-not-repeat line of the row; for a REJECT without one, what was tried."""
    row = named.entry.row
    last = named.entry.ruling.verdict is Verdict.REJECT or all(ruling.verdict is not Verdict.REJECT for ruling in row.rulings)
    text = rules.get(row.line, "") if last else ""
    if not text and named.entry.ruling.verdict is not Verdict.REJECT:
        return None
    return Rule(text=text or tried, conditions={"architecture": target})
