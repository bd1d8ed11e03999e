"""Read result files: CSV with one row per measurement and the columns kernel, shape and time_us; others are ignored.

The text is UTF-8, with or without a byte order mark, with any line ends; quoted fields may span lines. The delimiter is a
comma, a semicolon or a tab, whichever fits the header. In header names, case, spaces and underscores don't matter. Blank rows
and spaces around a cell are ignored. A time is a decimal number of microseconds, such as 12.5 or 1.2e3. Other units, decimal
commas, nan, zero and negative times are refused, never guessed at or scaled.
"""

import csv
import difflib
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.files import user_file
from expctl.screening.screen import Case

COLUMNS = ("kernel", "shape", "time_us")
DELIMITERS = (",", ";", "\t")
BYTES_MAX = 1_000_000_000
# From a picosecond to eleven days: other values are no times of kernels, and may overflow a ratio.
TIME_MIN_US, TIME_MAX_US = 1e-6, 1e12
PROBLEMS_SHOWN = 10

NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", re.ASCII)
TIME_WORDS = re.compile(r"time|duration|latency|elapsed|runtime")
UNIT = re.compile(r"(?:^|[\s_(\[./-])(ns|nsec|nanoseconds|ms|msec|milliseconds|s|sec|seconds)[\s)\]]*$", re.IGNORECASE)
INTO_US = {"n": "divide its values by 1000", "m": "multiply its values by 1000", "s": "multiply its values by 1000000"}


def times_of(path: Path) -> dict[Case, list[float]]:
    """Return the times (us) by kernel and shape, all in file order. Raises Refused, listing every problem in the file."""
    text = _text(user_file.contents(path, "the result file", bytes_max=BYTES_MAX), path)
    rows = _rows(text, path)
    header = next(rows, (1, []))[1]
    kernel_at, shape_at, time_at = _column_indices(header, path)
    found: dict[Case, list[float]] = {}
    problems: list[str] = []
    for line, cells in rows:
        if len(cells) != len(header):
            problems.append(f"line {line}: {len(cells)} fields where the header has {len(header)}")
            continue
        case = Case(cells[kernel_at].strip(), cells[shape_at].strip())
        time_us = _time_us(cells[time_at].strip())
        if time_us is None or not all(case):
            problems += [f"line {line}: {name} is empty" for name, word in zip(COLUMNS, case, strict=False) if not word]
            if time_us is None:
                problems.append(f"line {line}: time_us is {cells[time_at][:40]!r}")
        else:
            found.setdefault(case, []).append(time_us)
    if problems:
        raise _bad_rows(problems, path)
    if not found:
        raise Refused(
            "the result file has no rows",
            code="results-without-rows",
            expected="one row per measurement below the header",
            found="the header alone",
            where=str(path),
            hint="measure again, or name another file",
        )
    return found


def _text(raw: bytes, path: Path) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        problem = "a byte order mark of UTF-16"
    elif (at := raw.find(b"\0")) >= 0:
        problem = f"a NUL at byte {at}: it is no text"
    else:
        try:
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            problem = f"byte {raw[error.start]:#04x} at {error.start}, line {line}"
    raise Refused(
        "the result file is not a CSV file",
        code="results-not-csv",
        expected="UTF-8 text",
        found=problem,
        where=str(path),
        hint="save it as UTF-8 CSV",
    )


def _rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of each row that isn't blank, the header first. Raises Refused for bad CSV."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cells) and any(map(str.strip, cells)):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise Refused(
            "the result file is not a CSV file",
            code="results-not-csv",
            expected="quotes in pairs, only around whole fields",
            found=f"{error}, in the row that starts in line {line}",
            where=str(path),
            hint=f"look at the quotes in line {line}",
        ) from error


def _delimiter(text: str) -> str:
    """Return the delimiter for which the header has the most of the columns kernel, shape and time_us. If several are equally
    good, it is the one for which the header has the most columns of any name.
    """
    wanted = {_plain(name) for name in COLUMNS}

    def fit(delimiter: str) -> tuple[int, int]:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            first = next((cells for cells in lines if any(map(str.strip, cells))), [])
        except csv.Error:  # an open quote after a delimiter; _rows reports its line
            return 0, 2
        return len(wanted & set(map(_plain, first))), len(first)

    return max(DELIMITERS, key=fit)


def _column_indices(header: Sequence[str], path: Path) -> list[int]:
    """Return the indices of the columns kernel, shape and time_us. Raises Refused if one is missing or appears twice."""
    if not header:
        raise Refused(
            "the result file is empty",
            code="results-empty",
            expected=f"a header with the columns {', '.join(COLUMNS)}, then one row per measurement",
            found="no text",
            where=str(path),
            hint="measure again, or name another file",
        )
    names = [_plain(name) for name in header]
    wanted = [_plain(name) for name in COLUMNS]
    problems = [
        f"{name}: {names.count(plain)} columns have that name" for name, plain in _zip(wanted) if names.count(plain) > 1
    ]
    spare = [name.strip() for name, plain in zip(header, names, strict=True) if plain not in wanted and plain]
    missing = [(name, plain) for name, plain in _zip(wanted) if plain not in names]
    if missing and any(_time_us(name.strip()) for name in header):
        problems.append("numbers in the first row: is the header missing?")
    else:
        problems += [f"{name}: missing{_advice(name, spare)}" for name, _ in missing]
    if problems:
        shown = ", ".join(name.strip()[:60] for name in header[:20]) + (", ..." if len(header) > 20 else "")
        raise Refused(
            "the result file lacks a column, or has one twice",
            code="results-columns-unfit",
            expected=f"{', '.join(COLUMNS)} (others don't matter), separated by comma, semicolon or tab",
            found="\n".join([f"the columns {shown}", *problems]),
            where=f"{path}, first row",
            hint="edit the header; times are in microseconds",
        )
    return [names.index(plain) for plain in wanted]


def _zip(wanted: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(COLUMNS, wanted, strict=True)


def _advice(wanted: str, spare: Sequence[str]) -> str:
    """Return advice on which column of `spare` may be the missing column `wanted`; "" if none resembles it."""
    if wanted != "time_us":
        close = [name for name in spare if wanted in name.casefold()] or difflib.get_close_matches(wanted, spare, n=1)
        return f"; rename {close[0]!r} to {wanted}, if it is that" if close else ""
    other = [(name, found[1][0].lower()) for name in spare if (found := UNIT.search(name))]
    timed = [name for name in spare if TIME_WORDS.search(name.casefold())] or difflib.get_close_matches(wanted, spare, n=1)
    for name, unit in other:
        if not timed or name in timed:
            return f"; {name!r} looks like another unit: {INTO_US[unit]}, then rename it to time_us"
    return f"; rename {timed[0]!r} to time_us, if it is in microseconds" if timed else ""


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", "", name).casefold()


def _time_us(word: str) -> float | None:
    if NUMBER.fullmatch(word):
        time_us = float(word)
        if TIME_MIN_US <= time_us <= TIME_MAX_US:
            return time_us
    return None


def _bad_rows(problems: Sequence[str], path: Path) -> Refused:
    more = [f"and {len(problems) - PROBLEMS_SHOWN} more"] if len(problems) > PROBLEMS_SHOWN else []
    return Refused(
        f"the result file has {len(problems)} problem{'s' if len(problems) > 1 else ''}",
        code="results-have-problems",
        expected=f"kernel, shape, and a time in us from {TIME_MIN_US:g} to {TIME_MAX_US:g}, such as 12.5",
        found="\n".join([*problems[:PROBLEMS_SHOWN], *more]),
        where=str(path),
        hint="quote fields that hold the delimiter; take out rows of failed runs, they are then reported as missing",
    )
