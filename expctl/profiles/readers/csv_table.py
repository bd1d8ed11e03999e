"""A CSV file as columns, read in bulk and strictly: every row as wide as the header, every number a number."""

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TextIO

from expctl.domain.text import one_line
from expctl.profiles.raw import refusals
from expctl.profiles.raw.sanity_limits import BITS_64, NUMBER
from expctl.profiles.readers import profiler_chatter
from expctl.profiles.readers.text_file import open_text

ROWS_AT_ONCE = 2_000
FIELD_MOST = 1 << 20
"""Kernel names reach thousands of characters; the standard library's limit is meant for less."""
LINE_MOST = 2 * FIELD_MOST
"""A longer line comes in pieces, which are refused: it may be an archive made to burst."""
_LONG = re.compile(r"\d{19,}", re.ASCII)
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")

Row = list[str]


@dataclass(slots=True)
class Table:
    """An open table. `names` are the heads in lower case with their columns."""

    path: Path
    names: dict[str, int]
    _rows: Iterator[Row]
    lines: "_Lines"
    least: int = 0
    """Fields that a row must have where the last columns may be left out; 0 where all are wanted."""

    @property
    def width(self) -> int:
        """Columns."""
        return len(self.names)

    def chunks(self) -> Iterator[list[Row]]:
        """Rows in file order, some thousand at a time. Raises Refused for a row of another width."""
        while rows := self._next():
            if set(map(len, rows)) != {self.width}:
                rows = [row + [""] * (self.width - len(row)) for row in rows if self._is_whole(row)]
            yield rows

    def all_rows(self) -> Iterator[Row]:
        """One row after the other."""
        for rows in self.chunks():
            yield from rows

    def _next(self) -> list[Row]:
        try:
            return list(islice(self._rows, ROWS_AT_ONCE))
        except csv.Error as error:
            raise refusals.damaged(self.path, f"no CSV: {error}") from error

    def _is_whole(self, row: Row) -> bool:
        if (
            not row
            or profiler_chatter.is_own(row[0])
            or (len(row) == 1 and (not row[0].strip() or row[0].startswith(profiler_chatter.OWN)))
        ):
            return False
        if (self.least or self.width) <= len(row) <= self.width:
            return True
        raise refusals.damaged(
            self.path,
            f"a row of {len(row)} fields under {self.width} heads (cut off?): {one_line(','.join(row), 120)}",
        )


class _Lines:
    """The lines of a text, and whether the last one that was read had an end."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self.ended = True

    def __iter__(self) -> Iterator[str]:
        line = "\n"
        for line in iter(partial(self._text.readline, LINE_MOST), ""):
            yield line
        self.ended = line.endswith(("\n", "\r"))


@contextmanager
def open_table(path: Path) -> Iterator[Table]:
    """Open `path` and read its heads. Raises Refused when there is none, or one stands twice."""
    previous = csv.field_size_limit(FIELD_MOST)
    try:
        with open_text(path) as text:
            lines = _Lines(text)
            rows = csv.reader(profiler_chatter.from_table(iter(lines), LINE_MOST), strict=True)
            try:
                heads = _heads(rows)
            except csv.Error as error:
                raise refusals.damaged(path, f"no CSV: {error}") from error
            if not heads:
                raise refusals.unknown(path, profiler_chatter.why_empty(path), "profile again: no table was written")
            names = {name: column for column, name in enumerate(heads)}
            if len(names) != len(heads):
                double = next(name for name in heads if heads.count(name) > 1)
                raise refusals.damaged(path, f"the column {one_line(double, 60) or '(nameless)'} stands twice")
            yield Table(path, names, rows, lines)
    finally:
        csv.field_size_limit(previous)


def _heads(rows: Iterator[Row]) -> list[str]:
    for row in rows:
        if row and not row[0].startswith(profiler_chatter.OWN) and any(cell.strip() for cell in row):
            return [cell.strip().lower() for cell in row]
    return []


def integers(path: Path, name: str, cells: Sequence[str]) -> list[int]:
    """The cells of a column as integers, quoted or not. Raises Refused, and names the cell."""
    if "_" not in "".join(cells):  # Python's way to write integers, and no tool's
        with suppress(ValueError):
            found = list(map(int, cells))
            if found and not -BITS_64 <= min(found) <= max(found) < BITS_64:
                raise refusals.damaged(path, f"{name} of more than 64 bits")
            return found
    bad = next(cell for cell in cells if not _is_integer(cell))
    raise refusals.damaged(path, f"{name} {one_line(bad, 60) or '(empty)'}, where an integer belongs")


def optional_integer(cell: str) -> int | None:
    """The integer of a cell, None for an empty or odd one. One of more than 64 bits is cut to them, and still impossible."""
    if _LONG.fullmatch(cell):
        return BITS_64
    return int(cell) if _is_integer(cell) else None


def number(path: Path, name: str, cell: str) -> float:
    """A number that something can be, exponents and thousands' commas allowed. Raises Refused, also for a decimal comma."""
    plain = cell.replace(",", "") if _THOUSANDS.fullmatch(cell.strip()) else cell
    try:
        value = float("nan" if "_" in plain else plain)
    except ValueError:
        value = float("nan")
    if not abs(value) < NUMBER:
        raise refusals.damaged(path, f"{name} {one_line(cell, 60) or '(empty)'}, where a number belongs")
    return value


def _is_integer(cell: str) -> bool:
    try:
        int(cell)
    except ValueError:
        return False
    return "_" not in cell
