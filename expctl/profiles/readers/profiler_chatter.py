"""What Nsight Compute prints around its table while it profiles: lines of its own, and whatever the program prints."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path

from expctl.domain.text import one_line
from expctl.profiles.readers.text_file import open_text

OWN = "=="
HEADS = '"ID","Process ID"'
LINES_BEFORE = 1000
"""Among so many first lines is one of ncu's own where there is any, and mostly its table."""
LINE_SHOWN = 1000
_TAGGED = re.compile(r"==(PROF|WARNING|ERROR)== ")


def is_own(line: str) -> bool:
    """Whether ncu marked the line as its own. Commas in it make no row."""
    return _TAGGED.match(line) is not None


def from_table(lines: Iterator[str], line_most: int) -> Iterator[str]:
    """The lines from ncu's table on, where it is one of ncu's; a longer line than `line_most` ends the search.

    The heads may stand behind the last words of the program, where these had no end of line.
    """
    begun = []
    for line in islice(lines, LINES_BEFORE):
        begun.append(line)
        if len(line) >= line_most:
            break
    own = [line for line in begun if line.startswith(OWN)]
    table = next((i for i, line in enumerate(begun) if own and HEADS in line), None)
    if table is not None:
        return chain([_heads(begun[table])], begun[table + 1 :], lines)
    if own and (own[0] is begun[0] or any(map(is_own, own))):  # the program printed more than that
        return chain(own, _later_table(lines))
    return chain(begun, lines)


def _later_table(lines: Iterator[str]) -> Iterator[str]:
    heads = next((line for line in lines if HEADS in line), None)
    return iter(()) if heads is None else chain([_heads(heads)], lines)


def _heads(line: str) -> str:
    return line[line.index(HEADS) :]


def why_empty(path: Path) -> str:
    """What ncu says in a file without a table: its first error, else its first warning."""
    said: dict[str, str] = {}
    blank = True
    with open_text(path) as text:
        for line in iter(partial(text.readline, LINE_SHOWN), ""):
            blank = blank and not line.strip()
            if found := _TAGGED.match(line):
                said.setdefault(found[1], line)
    reason = said.get("ERROR") or said.get("WARNING")
    return "an empty file" if blank else f"no table, but {one_line(reason.strip(), 160)}" if reason else "no table of ncu's"
