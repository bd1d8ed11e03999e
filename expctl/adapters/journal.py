"""The journal: append-only JSON lines, one file per unfinished run, each line chained to the one before.

A line is `{"seq", "prev", "type", "data", "sum"}`: `prev` is the checksum of the line before, `sum` covers the rest. A torn
last line is what a crash leaves and is removed; any other damage is refused.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple, get_args

from msgspec import Struct

from expctl.adapters.codec.decode import Problems, decode, encode
from expctl.domain.errors import Refused
from expctl.domain.machine.os_errors import explained
from expctl.domain.run.events import Event
from expctl.files import atomic_write
from expctl.files.disk_reserve import FULL, Reserve

EVENTS: dict[str, Any] = {kind.__name__: kind for kind in get_args(Event)}
START = "start"
BYTES_MAX = 1 << 30
ASIDE = "run expctl doctor and type the command that it shows for this journal: the experiment then starts over, records stay"


@dataclass
class _Read:
    """A journal as it was read last: a landing reads its own several times, and what is the same to the byte is as sound."""

    path: Path
    text: bytes = b""
    lines: list[dict[str, Any]] = field(default_factory=list)
    events: tuple[Any, ...] | None = None


class _End(NamedTuple):
    """Where a journal ends: how many bytes and lines it has, and the checksum of the last one."""

    size: int
    lines: int
    sum: str


class FileJournal:
    """The journals of unfinished runs in `folder`, with events of `kinds` by name. If `heals`, reading a journal removes a torn
    last line from the file, which is safe only while no run writes to it. Unless `flushes`, lines outlive a killed process and
    not a power cut: for what can be measured again.
    """

    def __init__(self, folder: Path, *, heals: bool = True, kinds: Mapping[str, Any] = EVENTS, flushes: bool = True) -> None:
        self._folder, self._heals, self._kinds, self._flushes = folder, heals, kinds, flushes
        self._reserve = Reserve(folder.parent)
        self._last = _Read(folder)
        self._ends: dict[str, _End] = {}  # as of what was appended here, so that the next append needs no look at it

    def unfinished(self) -> tuple[str, ...]:
        """Return the ids of the experiments with an unfinished run, sorted."""
        return tuple(sorted(path.stem for path in self._folder.glob("*.jsonl")))

    def read(self, experiment: str) -> tuple[Any, ...]:
        """Return the events in an experiment's journal. Raises Refused if it is damaged or has an event of an unknown kind."""
        found = self._read(experiment)
        if found.events is None:
            found.events = tuple(_event(line, found.path, self._kinds) for line in found.lines)
        return found.events

    def append(self, experiment: str, event: Struct) -> None:
        """Append one event, as `extend` does."""
        self.extend(experiment, (event,))

    def extend(self, experiment: str, events: Sequence[Struct]) -> None:
        """Append events and flush them to disk. On a full disk a reserve file is deleted to make room for them.

        Raises MachineTrouble if the event was written thanks to that, OSError if it could not be written. The next `read`
        removes a half-written line.
        """
        self._reserve.refill()
        end, text = self._end(experiment), ""
        previous = end.sum
        for number, event in enumerate(events, start=end.lines):
            line: dict[str, Any] = {"seq": number, "prev": previous, "type": type(event).__name__, "data": encode(event)}
            previous = _checksum(line)
            text += json.dumps({**line, "sum": previous}, separators=(",", ":"), allow_nan=False) + "\n"
        path = self._path(experiment)
        path.parent.mkdir(parents=True, exist_ok=True)
        write = _write if self._flushes else _add
        try:
            write(path, text.encode(), is_first=not end.lines)
        except OSError as error:
            if error.errno not in FULL or not self._reserve.release():
                raise
            self._read(experiment)  # removes the half line that the failed write left
            write(path, text.encode(), is_first=not end.lines)
            trouble = explained(error)
            assert trouble is not None  # noqa: S101  that is what FULL says
            raise trouble from error
        self._ends[experiment] = _End(end.size + len(text), end.lines + len(events), previous)

    def forget(self, experiment: str) -> None:
        """Delete the journal of an experiment whose record is committed."""
        self._path(experiment).unlink(missing_ok=True)
        self._ends.pop(experiment, None)

    def _path(self, experiment: str) -> Path:
        return self._folder / f"{experiment}.jsonl"

    def _end(self, experiment: str) -> _End:
        known, path = self._ends.get(experiment), self._path(experiment)
        if known is not None and path.is_file() and path.stat().st_size == known.size:
            return known
        lines = self._read(experiment).lines
        return _End(path.stat().st_size if lines else 0, len(lines), lines[-1]["sum"] if lines else START)

    def _read(self, experiment: str) -> _Read:
        path, last = self._path(experiment), self._last
        if not path.exists():
            return _Read(path)
        if not path.is_file():
            raise _damaged("a folder or device", path)
        if path.stat().st_size > BYTES_MAX:
            raise _damaged(f"{path.stat().st_size} bytes, where a run writes at most {BYTES_MAX}", path)
        raw = path.read_bytes()
        whole, torn = raw.rsplit(b"\n", 1) if b"\n" in raw else (b"", raw)
        if torn and self._heals:
            _heal(path, len(whole) + 1 if whole else 0)
        if last.path == path and last.text == whole:
            return last
        lines = [*last.lines] if last.path == path and whole.startswith(last.text + b"\n") else []
        for number, text in enumerate(whole.splitlines()[len(lines) :], start=len(lines) + 1):
            previous = lines[-1]["sum"] if lines else START
            lines.append(_checked(text, path, number, previous))
        self._last = found = _Read(path, whole, lines)
        return found


def _write(path: Path, text: bytes, *, is_first: bool) -> None:
    with open(path, "ab", buffering=0) as file:  # a buffer would be written at last, at closing, after a write that failed
        _put(file, text)
        os.fsync(file.fileno())
    if is_first:
        atomic_write.flush(path.parent)


def _add(path: Path, text: bytes, *, is_first: bool) -> None:  # noqa: ARG001  the signature of `_write`
    with open(path, "ab", buffering=0) as file:
        _put(file, text)


def _put(file: FileIO, text: bytes) -> None:
    left = memoryview(text)
    while left:
        left = left[file.write(left) :]


def _heal(path: Path, length: int) -> None:
    with open(path, "r+b") as file:
        file.truncate(length)
        os.fsync(file.fileno())


def _checked(text: bytes, path: Path, number: int, previous: str) -> dict[str, Any]:
    try:
        line = json.loads(text)
        if not isinstance(line, dict):
            raise TypeError("a value of another kind")
        given = line.pop("sum")
        if given != _checksum(line) or line["prev"] != previous or line["seq"] != number - 1:
            raise ValueError("its checksum or its place is wrong")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(f"line {number} is not such an object: {error}", path) from error
    return {**line, "sum": given}


def _damaged(found: str, path: Path) -> Refused:
    return Refused(
        "the journal is damaged",
        code="journal-damaged",
        expected="JSON objects, one per line, each with the checksum of the line before",
        found=found,
        where=str(path),
        hint=ASIDE,
    )


def _event(line: dict[str, Any], path: Path, kinds: Mapping[str, Any]) -> Struct:
    problems = Problems()
    kind = kinds.get(line["type"])
    event: Struct | None = decode(line["data"], kind, problems) if kind is not None else None
    if event is None:
        raise Refused(
            "the journal was written by another version of expctl",
            code="journal-of-another-version",
            expected="events that this version knows",
            found="; ".join(problems.found[:3]) or f"an event {line['type']!r}",
            where=str(path),
            hint="end this run with the expctl that began it, or with a newer one (pipx upgrade expctl)",
        )
    return event


def _checksum(line: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(line, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:16]
