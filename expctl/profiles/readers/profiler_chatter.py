"""Find the table in output of Nsight Compute (ncu) that also contains messages of ncu and output of the profiled program."""

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
"""Number of first lines in which a message of ncu, and usually its table, is searched for."""
LINE_SHOWN = 1000
_TAGGED = re.compile(r"==(PROF|WARNING|ERROR)== ")


def is_ncu_message(line: str) -> bool:
    """Return whether `line` begins with a tag of ncu, such as `==PROF== `, and so is no row of a table."""
    return _TAGGED.match(line) is not None


def lines_of_table(lines: Iterator[str], line_most: int) -> Iterator[str]:
    """Return the lines of ncu's table from its header on; all lines if the text isn't ncu's output.

    It is ncu's output if a message of ncu is among its first lines, up to the first one of `line_most` or more characters.
    Output of the program before the header on the same line is dropped.
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
    if own and (own[0] is begun[0] or any(map(is_ncu_message, own))):  # the program printed more than LINES_BEFORE lines
        return chain(own, _later_table(lines))
    return chain(begun, lines)


def _later_table(lines: Iterator[str]) -> Iterator[str]:
    heads = next((line for line in lines if HEADS in line), None)
    return iter(()) if heads is None else chain([_heads(heads)], lines)


def _heads(line: str) -> str:
    return line[line.index(HEADS) :]


def why_empty(path: Path) -> str:
    """Return in words why a file contains no table: it is empty, or the first error (else warning) that ncu wrote into it."""
    messages: dict[str, str] = {}
    blank = True
    with open_text(path) as text:
        for line in iter(partial(text.readline, LINE_SHOWN), ""):
            blank = blank and not line.strip()
            if found := _TAGGED.match(line):
                messages.setdefault(found[1], line)
    reason = messages.get("ERROR") or messages.get("WARNING")
    return "an empty file" if blank else f"no table, but {one_line(reason.strip(), 160)}" if reason else "no table of ncu's"
