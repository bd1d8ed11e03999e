"""The journal: append-only JSON lines, one file per unfinished run, each line chained to the one before.

A line is `{"seq", "prev", "type", "data", "sum"}`: `prev` is the checksum of the line before, `sum` covers the rest. A torn
last line is what a crash leaves and is removed; any other damage is refused.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, get_args

from expctl.adapters.codec.decode import Problems, decode, encode
from expctl.domain.errors import Refused
from expctl.domain.machine.os_errors import explained
from expctl.domain.run.events import Event
from expctl.files import atomic_write
from expctl.files.disk_reserve import FULL, Reserve

EVENTS: dict[str, Any] = {kind.__name__: kind for kind in get_args(Event)}
START = "start"


class FileJournal:
    """Reads and writes the journals in one folder. With `heals`, reading removes a torn last line: unsafe beside a live run."""

    def __init__(self, folder: Path, *, heals: bool = True) -> None:
        self._folder, self._heals = folder, heals
        self._reserve = Reserve(folder.parent)

    def unfinished(self) -> tuple[str, ...]:
        """Return the ids of the experiments that have a journal, sorted."""
        return tuple(sorted(path.stem for path in self._folder.glob("*.jsonl")))

    def read(self, experiment: str) -> tuple[Event, ...]:
        """Return an experiment's events so far. Raises Refused, naming the line, for a damaged journal or an unknown event."""
        return tuple(_event(line, self._path(experiment)) for line in self._lines(experiment))

    def append(self, experiment: str, event: Event) -> None:
        """Append one event and flush it to the disk.

        Raises MachineTrouble if the disk is full but the disk reserve made room for this event, OSError if it didn't: the half
        line that this leaves is removed by the next `read`.
        """
        self._reserve.refill()
        lines = self._lines(experiment)
        line: dict[str, Any] = {
            "seq": len(lines),
            "prev": lines[-1]["sum"] if lines else START,
            "type": type(event).__name__,
            "data": encode(event),
        }
        path = self._path(experiment)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({**line, "sum": _checksum(line)}, separators=(",", ":"), allow_nan=False) + "\n"
        try:
            _write(path, text.encode(), is_first=not lines)
        except OSError as error:
            if error.errno not in FULL or not self._reserve.release():
                raise
            self._lines(experiment)  # removes the half line that the failed write left
            _write(path, text.encode(), is_first=not lines)
            trouble = explained(error)
            assert trouble is not None  # noqa: S101  that is what FULL says
            raise trouble from error

    def forget(self, experiment: str) -> None:
        """Delete the journal of a settled run, whose record is in git now."""
        self._path(experiment).unlink(missing_ok=True)

    def _path(self, experiment: str) -> Path:
        return self._folder / f"{experiment}.jsonl"

    def _lines(self, experiment: str) -> list[dict[str, Any]]:
        path = self._path(experiment)
        if not path.exists():
            return []
        if not path.is_file():
            raise _damaged("it is no plain file", path)
        raw = path.read_bytes()
        whole, torn = raw.rsplit(b"\n", 1) if b"\n" in raw else (b"", raw)
        if torn and self._heals:
            _heal(path, len(whole) + 1 if whole else 0)
        lines: list[dict[str, Any]] = []
        for number, text in enumerate(whole.splitlines(), start=1):
            previous = lines[-1]["sum"] if lines else START
            lines.append(_checked(text, path, number, previous))
        return lines


def _write(path: Path, text: bytes, *, is_first: bool) -> None:
    with open(path, "ab") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    if is_first:
        atomic_write.flush_folder(path.parent)


def _heal(path: Path, length: int) -> None:
    with open(path, "r+b") as file:
        file.truncate(length)
        os.fsync(file.fileno())


def _checked(text: bytes, path: Path, number: int, previous: str) -> dict[str, Any]:
    try:
        line = json.loads(text)
        given = line.pop("sum")
        if given != _checksum(line) or line["prev"] != previous or line["seq"] != number - 1:
            raise ValueError("checksum or order")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise _damaged(f"line {number} does not fit: {error}", path) from error
    return {**line, "sum": given}


def _damaged(found: str, path: Path) -> Refused:
    return Refused(
        "the journal is damaged",
        code="journal-damaged",
        expected="a chain of checksummed lines",
        found=found,
        where=str(path),
        hint="expctl doctor has the command that moves it aside: the experiment then starts over, records stay",
    )


def _event(line: dict[str, Any], path: Path) -> Event:
    problems = Problems()
    kind = EVENTS.get(line["type"])
    event: Event | None = decode(line["data"], kind, problems) if kind is not None else None
    if event is None:
        raise Refused(
            "the journal was written by another version of expctl",
            code="journal-of-another-version",
            found="; ".join(problems.found[:3]) or f"an event {line['type']!r}",
            where=str(path),
            hint="expctl doctor has the command that moves it aside: the experiment then starts over, records stay",
        )
    return event


def _checksum(line: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(line, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:16]
