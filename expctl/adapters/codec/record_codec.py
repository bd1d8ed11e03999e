"""record.json, samples.jsonl, profile.json and queued.json: typed on this side, canonical bytes on the other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from expctl.adapters.codec.decode import encode
from expctl.domain.errors import Refused
from expctl.domain.experiment.queue_ticket import Ticket
from expctl.domain.experiment.record import Fact, Record
from expctl.files.unique_keys import decode_json

if TYPE_CHECKING:
    from expctl.domain.verdict.samples import Sample

T = TypeVar("T")


def record_bytes(record: Record) -> bytes:
    """The one way to write a record: keys in the order of the dataclass, one space of indent, a final newline."""
    return _indented(encode(record))


def record_of(text: bytes, *, where: str) -> Record:
    """Read a record. Raises Refused when it is not one."""
    return typed_json(text, Record, where=where)


def with_parts(text: bytes, parts: Mapping[str, object], *, replication: int = 0) -> bytes:
    """The record `text` with some of its keys written anew, in their places; in its n-th replication when that is given."""
    plain = json.loads(text)
    entry = plain["replications"][replication - 1] if replication else plain
    for key, value in parts.items():
        encoded = encode(value)
        if encoded or key in entry:
            entry[key] = encoded
    return _indented(plain)


def samples_bytes(samples: Iterable[Sample]) -> bytes:
    """One line per launch and size, times as integer nanoseconds."""
    lines = (json.dumps(encode(each), separators=(",", ":"), ensure_ascii=False, allow_nan=False) for each in samples)
    return _encoded("".join(line + "\n" for line in lines))


def samples_of(text: bytes, *, where: str) -> tuple[Sample, ...]:
    """Read samples.jsonl. Raises Refused naming the first line that is not a sample."""
    from expctl.domain.verdict.samples import Sample

    return tuple(
        typed_json(line, Sample, where=f"{where}, line {number}") for number, line in enumerate(text.splitlines(), start=1)
    )


def profile_bytes(profile: Mapping[str, Sequence[Fact]]) -> bytes:
    """Facts by side."""
    return _indented(encode(dict(profile)))


def profile_of(text: bytes, *, where: str) -> Mapping[str, tuple[Fact, ...]]:
    """Read profile.json. Raises Refused when it is not one."""
    wanted: Any = Mapping[str, tuple[Fact, ...]]
    facts: Mapping[str, tuple[Fact, ...]] = typed_json(text, wanted, where=where)
    return facts


def ticket_bytes(ticket: Ticket) -> bytes:
    """queued.json."""
    return _indented(encode(ticket))


def typed_json(text: bytes, wanted: type[T], *, where: str) -> T:
    """Decode JSON that expctl wrote strictly into `wanted`. Raises Refused naming the first problem, with its path from `$`.

    No value is coerced but a whole number to a float. Classes that are read here forbid unknown fields.
    """
    try:
        return msgspec.convert(decode_json(text), wanted)
    except (ValueError, msgspec.ValidationError) as error:
        raise _damaged(where, str(error)) from error


def _damaged(where: str, problem: str) -> Refused:
    file = where.split(",")[0]
    return Refused(
        f"{where} is damaged",
        found=problem,
        where=where,
        hint=f"git log -- {file} shows its history; git checkout COMMIT -- {file} brings one back, to be committed",
    )


def _indented(plain: Any) -> bytes:
    return _encoded(json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _encoded(text: str) -> bytes:
    """Return `text` as UTF-8. A half of a surrogate pair, which names of files can hold and JSON can't, becomes `?`."""
    return text.encode(errors="replace")
