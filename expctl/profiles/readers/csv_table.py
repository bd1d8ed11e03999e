"""Read CSV files in bulk and strictly: rows of another width than the header, and text where a number belongs, are errors."""

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
"""Longest field in characters; names of kernels exceed the 131072 that the csv module allows."""
LINE_MOST = 2 * FIELD_MOST
"""Longest line in characters; the rest of a longer one is read as another row and refused (it may be a decompression bomb)."""
_LONG = re.compile(r"\d{19,}", re.ASCII)
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")

Row = list[str]


@dataclass(slots=True)
class Table:
    """A CSV file that is open for reading; `names` maps column heads in lower case to column numbers."""

    path: Path
    names: dict[str, int]
    _rows: Iterator[Row]
    lines: "_Lines"
    least: int = 0
    """Least number of fields of a row whose last columns may be absent; 0 where rows must be complete."""

    @property
    def width(self) -> int:
        """Return the number of columns of the table."""
        return len(self.names)

    def chunks(self) -> Iterator[list[Row]]:
        """Yield the rows in file order, in lists of 2,000 (the last is shorter). Raises Refused for a row with too many or too
        few fields.
        """
        while rows := self._next():
            if set(map(len, rows)) != {self.width}:
                rows = [row + [""] * (self.width - len(row)) for row in rows if self._is_whole(row)]
            yield rows

    def all_rows(self) -> Iterator[Row]:
        """Yield every row in file order. Raises Refused for a row with too many or too few fields."""
        for rows in self.chunks():
            yield from rows

    def _next(self) -> list[Row]:
        try:
            return list(islice(self._rows, ROWS_AT_ONCE))
        except csv.Error as error:
            raise refusals.damaged(self.path, f"not valid CSV: {error}") from error

    def _is_whole(self, row: Row) -> bool:
        is_note = len(row) == 1 and (not row[0].strip() or row[0].startswith(profiler_chatter.OWN))
        if not row or is_note or profiler_chatter.is_ncu_message(row[0]):
            return False
        if (self.least or self.width) <= len(row) <= self.width:
            return True
        raise refusals.damaged(
            self.path,
            f"a row of {len(row)} fields in a table of {self.width} columns (cut off?): {one_line(','.join(row), 120)}",
        )


class _Lines:
    """Iterates over the lines of a text; after the last line, `ended` tells whether it had a line end (else it was cut off)."""

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
    """Open the CSV table at `path` and read its column heads. Raises Refused for text that is no table, and for a column head
    that appears twice.
    """
    previous = csv.field_size_limit(FIELD_MOST)
    try:
        with open_text(path) as text:
            lines = _Lines(text)
            rows = csv.reader(profiler_chatter.lines_of_table(iter(lines), LINE_MOST), strict=True)
            try:
                heads = _heads(rows)
            except csv.Error as error:
                raise refusals.damaged(path, f"not valid CSV: {error}") from error
            if not heads:
                raise refusals.unknown(path, profiler_chatter.why_empty(path), "profile again: no table was written")
            names = {name: column for column, name in enumerate(heads)}
            if len(names) != len(heads):
                double = next(name for name in heads if heads.count(name) > 1)
                raise refusals.damaged(path, f"the column {one_line(double, 60) or '(nameless)'} appears twice")
            yield Table(path, names, rows, lines)
    finally:
        csv.field_size_limit(previous)


def _heads(rows: Iterator[Row]) -> list[str]:
    for row in rows:
        if row and not row[0].startswith(profiler_chatter.OWN) and any(cell.strip() for cell in row):
            return [cell.strip().lower() for cell in row]
    return []


def integers(path: Path, name: str, cells: Sequence[str]) -> list[int]:
    """Return the `cells` of column `name` as integers. Raises Refused if one is no 64-bit integer. `path` and `name` are for
    the error.
    """
    if "_" not in "".join(cells):  # int() would accept 1_000, which no tool writes
        with suppress(ValueError):
            found = list(map(int, cells))
            if found and not -BITS_64 <= min(found) <= max(found) < BITS_64:
                raise refusals.damaged(path, f"{name} of more than 64 bits")
            return found
    bad = next(cell for cell in cells if not _is_integer(cell))
    raise refusals.damaged(path, f"{name} {one_line(bad, 60) or '(empty)'}, where an integer belongs")


def optional_integer(cell: str) -> int | None:
    """Return the integer in a cell; None for other text. More than 18 digits give 2^63, which `check_limits` recognises as
    impossible.
    """
    if _LONG.fullmatch(cell):
        return BITS_64
    return int(cell) if _is_integer(cell) else None


def number(path: Path, name: str, cell: str) -> float:
    """Return the number in a cell; exponents and commas between thousands are allowed. Raises Refused, naming file and column
    `name`, for anything else and for numbers beyond 1e30.
    """
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
