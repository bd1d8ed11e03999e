"""A CSV file as columns, read in bulk and strictly: every row as wide as the header, every number a number."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from expctl.domain.text import one_line
from expctl.profiling import refusals
from expctl.profiling.text_file import open_text

ROWS_AT_ONCE = 2_000
FIELD_MOST = 1 << 20
"""Kernel names reach thousands of characters; the standard library's limit is meant for less."""
PREAMBLE = "=="
"""Nsight Compute writes such lines before and after its table when it prints while it profiles."""

Row = list[str]


@dataclass(slots=True)
class Table:
    """An open table. `names` are the heads in lower case with their columns."""

    path: Path
    names: dict[str, int]
    _rows: Iterator[Row]
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
        if (self.least or self.width) <= len(row) <= self.width:
            return True
        if not row or (len(row) == 1 and (not row[0].strip() or row[0].startswith(PREAMBLE))):
            return False
        raise refusals.damaged(
            self.path,
            f"a row of {len(row)} fields under {self.width} heads (cut off?): {one_line(','.join(row), 120)}",
        )


@contextmanager
def open_table(path: Path) -> Iterator[Table]:
    """Open `path` and read its heads. Raises Refused when there is none, or one stands twice."""
    previous = csv.field_size_limit(FIELD_MOST)
    try:
        with open_text(path) as text:
            rows = csv.reader(text, strict=True)
            try:
                heads = _heads(rows)
            except csv.Error as error:
                raise refusals.damaged(path, f"no CSV: {error}") from error
            if not heads:
                raise refusals.unknown(path, "an empty file", "profile again: nothing was written")
            names = {name: column for column, name in enumerate(heads)}
            if len(names) != len(heads):
                double = next(name for name in heads if heads.count(name) > 1)
                raise refusals.damaged(path, f"the column {one_line(double, 60)} stands twice")
            yield Table(path, names, rows)
    finally:
        csv.field_size_limit(previous)


def _heads(rows: Iterator[Row]) -> list[str]:
    for row in rows:
        if row and not row[0].startswith(PREAMBLE) and any(cell.strip() for cell in row):
            return [cell.strip().lower() for cell in row]
    return []


def integers(path: Path, name: str, cells: Sequence[str]) -> list[int]:
    """The cells of a column as integers, quoted or not. Raises Refused, and names the cell."""
    try:
        return list(map(int, cells))
    except ValueError:
        bad = next(cell for cell in cells if not _is_integer(cell))
        raise refusals.damaged(path, f"{name} {one_line(bad, 60) or '(empty)'}, where an integer belongs") from None


def optional_integer(cell: str) -> int | None:
    """The integer of a cell, None for an empty or odd one."""
    return int(cell) if _is_integer(cell) else None


def number(path: Path, name: str, cell: str) -> float:
    """A finite number, exponents and thousands' commas allowed. Raises Refused."""
    try:
        value = float(cell.replace(",", ""))
    except ValueError:
        value = float("nan")
    if value - value != 0:
        raise refusals.damaged(path, f"{name} {one_line(cell, 60) or '(empty)'}, where a number belongs")
    return value


def _is_integer(cell: str) -> bool:
    try:
        int(cell)
    except ValueError:
        return False
    return True
