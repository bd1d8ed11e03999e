"""Encode record.json, samples.jsonl, blind.jsonl, profile.json, queued.json and rivals as canonical bytes; decode them."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from expctl.adapters.codec.decode import UNKNOWN_KEY, Problems, decode, encode
from expctl.domain.errors import UPGRADE, NewerFile, Refused
from expctl.domain.experiment.queue_ticket import Ticket
from expctl.domain.experiment.record import SCHEMA, Fact, Record
from expctl.files.parse_json import parse_json

if TYPE_CHECKING:
    from expctl.domain.experiment.rivals import Rivals
    from expctl.domain.history.blind import BlindSlot
    from expctl.domain.verdict.samples import Sample

T = TypeVar("T")

FIRST = 1  # the schema of a file that doesn't say one


def record_bytes(record: Record) -> bytes:
    """Return the bytes of record.json: keys in the order of Record's fields, one space of indent, a final newline."""
    return indented(encode(record))


def record_of(text: bytes, *, where: str) -> Record:
    """Parse a record.json. Raises Refused with every problem; `where` names the file."""
    return typed_json(text, Record, where=where)


def record_in(folder: str, text: bytes) -> Record:
    """Parse `text`, the record.json of `folder`. Raises Refused with every problem, or if its id isn't the folder's name."""
    record = record_of(text, where=f"{folder}/record.json")
    if record.id != PurePosixPath(folder).name:
        raise Refused(
            f"{folder}/record.json is the record of another experiment",
            code="record-names-another",
            expected="the name of its folder as id",
            found=record.id,
            where=folder,
            hint=f"git log -- {folder} shows its history; restore the record that belongs here, and commit it",
        )
    return record


def with_parts(text: bytes, parts: Mapping[str, object], *, replication: int = 0) -> bytes:
    """Return the record.json `text` with `parts` (field -> new value) replaced in it. With `replication` 0 the fields are those
    of the record, with N >= 1 those of the Nth entry of its list `replications`.
    """
    plain = json.loads(text)
    entry = plain["replications"][replication - 1] if replication else plain
    for key, value in parts.items():
        encoded = encode(value)
        if encoded or key in entry:
            entry[key] = encoded
    return indented(plain)


def samples_bytes(samples: Iterable[Sample]) -> bytes:
    """Return the bytes of samples.jsonl: one line of JSON per sample, with times as whole nanoseconds."""
    return "".join(json.dumps(encode(sample), separators=(",", ":")) + "\n" for sample in samples).encode()


def samples_of(text: bytes, *, where: str) -> tuple[Sample, ...]:
    """Parse samples.jsonl. Raises Refused naming the file `where` and the first line that is not a sample."""
    from expctl.domain.verdict.samples import Sample

    return tuple(
        typed_json(line, Sample, where=f"{where}, line {number}") for number, line in enumerate(text.splitlines(), start=1)
    )


def blind_bytes(slot: BlindSlot) -> bytes:
    """Return the line of blind.jsonl about one blind slot, with its line end."""
    return json.dumps(encode(slot), separators=(",", ":"), ensure_ascii=False).encode(errors="backslashreplace") + b"\n"


@functools.lru_cache(maxsize=2)  # who lands results reads it for each
def blind_of(text: bytes, *, where: str) -> tuple[BlindSlot, ...]:
    """Parse blind.jsonl, one slot per line. Raises Refused naming the file `where` and the first line that is not a blind slot,
    or that has no line end: the next slot would be written behind it.
    """
    from expctl.domain.history.blind import BlindSlot

    *lines, rest = text.split(b"\n")
    if not rest and all(map(bytes.strip, lines)):
        with suppress(msgspec.DecodeError, UnicodeDecodeError):  # quick; what is wrong with a line is said by the strict reader
            found = tuple(msgspec.json.Decoder(BlindSlot).decode_lines(text))
            if b"".join(map(blind_bytes, found)) == text:  # else a person wrote it: a key may stand twice
                return found
    numbered = enumerate(lines, start=1)
    slots = tuple(typed_json(line, BlindSlot, where=f"{where}, line {place}") for place, line in numbered)
    if rest:
        number = len(lines) + 1
        raise _damaged(f"{where}, line {number}", ["no line end: the file was cut off"])
    return slots


def rivals_bytes(rivals: Rivals) -> bytes:
    """Return the bytes of a file of experiments/rivals."""
    return indented(encode(rivals))


def rivals_of(text: bytes, *, where: str) -> Rivals:
    """Parse a file of experiments/rivals. Raises Refused with every problem; `where` names the file."""
    from expctl.domain.experiment.rivals import Rivals

    return typed_json(text, Rivals, where=where)


def profile_bytes(profile: Mapping[str, Sequence[Fact]]) -> bytes:
    """Return the bytes of profile.json for `profile`: side (baseline or candidate) -> named figures of the profiler."""
    return indented(encode(dict(profile)))


def profile_of(text: bytes, *, where: str) -> Mapping[str, tuple[Fact, ...]]:
    """Parse profile.json into side -> facts. Raises Refused with every problem; `where` names the file."""
    wanted: Any = Mapping[str, tuple[Fact, ...]]
    facts: Mapping[str, tuple[Fact, ...]] = typed_json(text, wanted, where=where)
    return facts


def ticket_bytes(ticket: Ticket) -> bytes:
    """Return the bytes of queued.json, which holds a proposal's place in the queue."""
    return indented(encode(ticket))


def typed_json(text: bytes, wanted: type[T], *, where: str) -> T:
    """Decode JSON that expctl wrote as `wanted`, a type that forbids unknown fields. Raises Refused with every problem; what a
    newer expctl wrote is called that.
    """
    plain: Any = None
    try:
        plain = _plain(text)
        found = msgspec.convert(plain, wanted)
    except msgspec.ValidationError as error:  # holds only the first problem; `decode` finds all
        problems = Problems()
        with suppress(OverflowError):
            decode(plain, wanted, problems)
        if _is_newer(plain, wanted) or (problems.found and all(UNKNOWN_KEY in each for each in problems.found)):
            raise _newer(where, plain, wanted, problems.found) from error
        raise _damaged(where, problems.found or [str(error)]) from error
    except ValueError as error:
        raise _damaged(where, [f"not JSON: {error}"]) from error
    if _is_newer(plain, wanted):
        raise _newer(where, plain, wanted, [])
    return found


def _is_newer(plain: Any, wanted: Any) -> bool:
    schema = plain.get("schema", FIRST) if isinstance(plain, dict) else FIRST
    return type(schema) is int and schema > _known(wanted)


def _known(wanted: Any) -> int:
    return SCHEMA if wanted is Record else FIRST


def _newer(where: str, plain: Any, wanted: Any, problems: list[str]) -> NewerFile:
    return NewerFile(
        f"{where} was written by a newer expctl",
        code="file-of-newer-expctl",
        expected=f"a schema up to {_known(wanted)}, and keys that this expctl knows",
        found="\n".join([*([f"schema {plain['schema']}"] if _is_newer(plain, wanted) else []), *problems[:10]]),
        where=where,
        hint=UPGRADE,
    )


def _damaged(where: str, problems: list[str]) -> Refused:
    file = where.split(",")[0]
    return Refused(
        f"{where} is damaged",
        code="file-damaged",
        found="\n".join(problems[:10]),
        where=where,
        hint=f"git log -- {file} shows its history; git checkout COMMIT -- {file} restores a version: commit it",
    )


def _plain(text: bytes) -> Any:
    # msgspec keeps the last of two equal keys, so its result counts only if it encodes to the same text; parse_json is slower.
    with suppress(msgspec.DecodeError, ValueError, OverflowError, RecursionError):
        plain = msgspec.json.decode(text)
        if msgspec.json.encode(plain) == msgspec.json.format(text, indent=-1):
            return plain
    return parse_json(text.decode())


def indented(plain: Any) -> bytes:
    """Return plain data as JSON as all files of records have it: one space of indent, a final newline."""
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False)
    try:
        return msgspec.json.format(text.encode(), indent=1) + b"\n"  # to save time: json indents without its encoder in C
    except UnicodeEncodeError:  # half a character, from a name of a file
        return (json.dumps(plain, indent=1, ensure_ascii=False) + "\n").encode(errors="backslashreplace")
