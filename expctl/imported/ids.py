"""Give experiment ids to the records made from rows of a hand-kept ledger. An id is never used for two experiments."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from expctl.domain.experiment.ids import ID_PATTERN, id_order
from expctl.domain.experiment.record import Origin, Record
from expctl.imported.document import Row, Ruling

TAIL = re.compile(r"(\D*)\d+[a-z]?", re.ASCII)
NUMBER = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
FIRST, LAST = r"(?P<first>[A-Za-z]*)[-#.]?\d+[a-z]?", r"(?P<head>[A-Za-z]*)[-#.]?\d+[a-z]?"
RANGES = (
    re.compile(rf"{FIRST}\s*(?:[–—…&+]|\.{{2,3}}|\s-\s|\s(?:to|through|until|and|bis|und)\s)\s*{LAST}", re.ASCII),
    re.compile(rf"{FIRST}-{LAST.replace('*)', '+)', 1)}", re.ASCII),
)
FILE, ROW = "imported from", "row"  # keys in the environment of an imported record


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A record to be made from a table row of a hand-kept ledger; a row with several ids or verdicts gives several.

    `name` is the id as written, `part` the index of the verdict in its row, `content` a hash of the row's text. `key`
    identifies the entry within its ledger.
    """

    row: Row
    name: str
    key: str
    ruling: Ruling
    part: int
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEntry:
    """An entry of a hand-kept ledger with its record's id; `note` says why the ledger's id wasn't taken, "" if it was."""

    id: str
    entry: Entry
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IdConflict:
    """An entry of a hand-kept ledger that can't get the id it states, and why."""

    entry: Entry
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IdAssignment:
    """Entries of a hand-kept ledger: `named` become records, `updated` are rows that were rewritten since they became records,
    `known` are records already, `conflicts` can't get their ids.
    """

    named: tuple[NamedEntry, ...]
    updated: tuple[NamedEntry, ...]
    known: tuple[NamedEntry, ...]
    conflicts: tuple[IdConflict, ...]


def entries_of(rows: Iterable[Row]) -> Iterator[Entry]:
    """Yield an entry for each id and each verdict of each row: two for the id `P0/P1`, two for `REJECT config / KEEP infra`."""
    seen: Counter[str] = Counter()
    for row in rows:
        for name in names_in(row.name) or ("",):
            for part, ruling in enumerate(row.rulings):
                fields = [name, ruling.words, row.change, row.results(), row.why, row.date]
                content = hashlib.sha256(json.dumps(fields, ensure_ascii=False).encode()).hexdigest()
                key = (name or content[:12]) + (f" ({part + 1})" if part else "")
                seen[key] += 1
                key += f" [{seen[key]}]" if seen[key] > 1 else ""  # `1` or `baseline` of a later table
                yield Entry(row=row, name=name, key=key, ruling=ruling, part=part, content=content)


def is_range(text: str) -> bool:
    """Return whether `text` is a range of ids, like `P3–P5`, `P3 to P5` or `P3 & P5`; `exp-1`, `P3-5` and `P6-A` are single."""
    return any(
        found["head"].lower() in ("", found["first"].lower()) for found in (each.fullmatch(text) for each in RANGES) if found
    )


def names_in(text: str) -> tuple[str, ...]:
    """Split an id cell into ids: `P11-B2a/B2b` into P11-B2a and P11-B2b, `X-1/2` into X-1 and X-2. Returns the whole text as
    one id where it can't be split, () for an empty one.
    """
    first, *others = (part.strip() for part in re.split(r"[/,]", text))
    names = [first]
    for other in others:
        if ID_PATTERN.fullmatch(other):
            names.append(other)
            continue
        tail = TAIL.fullmatch(other)
        stem = re.fullmatch(r"(.*?)(\D*)\d+[a-z]?", first, re.ASCII)
        if not tail or not stem or not first:
            return (text,) if text else ()
        head = stem[1] + stem[2]
        names.append(head.removesuffix(tail[1]) + other if tail[1] and head.endswith(tail[1]) else head + other)
    return tuple(name for name in names if name)


def assign_ids(
    entries: Sequence[Entry], file: str, records: Iterable[Record], taken: Iterable[str], *, renumber: bool
) -> IdAssignment:
    """Give each entry of the ledger `file` the id that it states, or the next free number `P<n>` if that is no valid id.

    `taken` are ids in use. An entry that states one of them is a conflict; with `renumber` it gets a free number instead. An
    entry that one of `records` was made from, by an import or by hand, keeps that record; if its row was rewritten since, the
    record is to be updated. Without an id, a row is the same if it has the same change.
    """
    by_id = {record.id: record for record in records}
    contents, keys = _imported(by_id.values(), file)
    current = {contents[entry.content] for entry in entries if entry.content in contents}
    rewritten = _by_change([by_id[name] for name in keys.values() if name not in current])
    used = set(taken)
    numbers = [id_order(name)[0] for name in (*used, *(entry.name for entry in entries if ID_PATTERN.fullmatch(entry.name)))]
    free = max(numbers, default=0) + 1
    named, updated, known, conflicts = [], [], [], []
    lines: dict[str, int] = {}
    for entry in entries:
        if entry.content in contents:
            known.append(NamedEntry(id=contents[entry.content], entry=entry, note=""))
            continue
        wanted = _stated_id(entry)
        why = ""
        if _is_record_by_hand(entry, by_id.get(wanted)):
            known.append(NamedEntry(id=wanted, entry=entry, note="in other words"))
            continue
        old = keys.get(entry.key, "" if entry.name else rewritten.pop(" ".join(entry.row.change.lower().split()), ""))
        if old and old not in current:
            current.add(old)
            updated.append(NamedEntry(id=old, entry=entry, note="its row was rewritten since"))
            continue
        if wanted in used:
            why = f"{wanted} is the row of line {lines[wanted]} already" if wanted in lines else f"the id {wanted} is taken"
        if why and not renumber:
            conflicts.append(IdConflict(entry=entry, why=why))
            continue
        note = ""
        if why or not wanted:
            wanted, free = f"P{free}", free + 1
            note = f"In {file} this is {entry.name}" if entry.name else f"In {file} this row has no id"
            note += f"; {why}." if why else "."
        used.add(wanted)
        lines[wanted] = entry.row.line
        named.append(NamedEntry(id=wanted, entry=entry, note=note))
    return IdAssignment(named=tuple(named), updated=tuple(updated), known=tuple(known), conflicts=tuple(conflicts))


def _imported(records: Iterable[Record], file: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return record ids of imported records: by hash of the row's text, and, for records from ledger `file`, by entry key."""
    imported = [record for record in records if record.origin is Origin.IMPORTED]
    return (
        {record.content: record.id for record in imported if record.content},
        {record.environment[ROW]: record.id for record in imported if record.environment.get(FILE) == file},
    )


def _by_change(records: Iterable[Record]) -> dict[str, str]:
    """Return record ids by what was tried, in small letters; what two records tried is left out."""
    changes = [(" ".join(record.history.change.lower().split()), record.id) for record in records if record.history]
    times = Counter(change for change, _ in changes)
    return {change: name for change, name in changes if times[change] == 1}


def _stated_id(entry: Entry) -> str:
    """Return the id that the row states, with b, c, ... appended for its second and later verdicts; "" if it is no valid id."""
    name = entry.name + ("" if not entry.part else "bcdefgh"[entry.part - 1])
    return name if entry.name and ID_PATTERN.fullmatch(name) else ""


def _is_record_by_hand(entry: Entry, record: Record | None) -> bool:
    """Return whether somebody wrote `record` by hand from the entry's row, instead of importing it. That is assumed if it has
    the entry's verdict and contains every number of the row's result.
    """
    if record is None or record.origin is not Origin.IMPORTED or record.content or record.history is None:
        return False
    history = record.history
    numbers = set(NUMBER.findall(" ".join((record.title, history.change, history.result, history.why, *history.corrections))))
    return record.verdict is entry.ruling.verdict and set(NUMBER.findall(entry.row.result)) <= numbers
