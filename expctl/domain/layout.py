"""Fits text to the width of a terminal: cuts names in the middle, leaves out columns of a table, wraps sentences.

A width of 0 means that there is no limit, as for output to a file or a pipe.
"""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

NAME_LEAST = 24
"""Characters of a long name that a table shows before it leaves out columns."""
FUNCTION_LEAST = 6
"""Characters of a function's name that stay before its arguments."""
NAME_MOST = 90
"""Characters of a name where the width has no limit."""
WIDTH_LEAST = 40
_CELLS_BEFORE = re.compile(r" *\S.{0,30} {2,}(?=\S)")  # the last gap of two spaces near the beginning ends a label or a cell
_FULL_LABEL = re.compile(r"  [A-Za-z][A-Za-z -]{8}[a-z] (?=\S)")  # a label that fills the ten columns of its kind
_INDENT = re.compile(r" *(?:[-*] )?")
_TOGETHER = re.compile(r"\[[^\]]{1,24}\]|\d %")  # an interval, a percentage


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its heading, a cell for each row, and how soon it is left out where the width is short: the larger
    `rank`, the sooner; 0 is never left out. `words` are aligned to the left.
    """

    head: str
    cells: Sequence[str]
    rank: int = 0
    words: bool = False

    @property
    def width(self) -> int:
        """Return the width of the widest cell, or of the heading."""
        return max(len(self.head), *map(len, self.cells), 0)

    @property
    def empty(self) -> bool:
        """Has no row anything in this column?"""
        return all(cell in ("", "-") for cell in self.cells)

    def aligned(self) -> list[str]:
        """Return the heading and the cells, all as wide as the widest."""
        width = self.width
        return [text.ljust(width) if self.words else text.rjust(width) for text in (self.head, *self.cells)]


def cut_middle(text: str, width: int) -> str:
    """Return `text`, without its middle if it is longer than `width` (0: NAME_MOST) characters: names differ at their ends.
    Of `function<arguments>` the arguments stay whole where a beginning of the function fits beside them.
    """
    width = width or NAME_MOST
    if len(text) <= width:
        return text
    room = width - 1 - len(text[text.find("<") :])
    if text.endswith(">") and room >= FUNCTION_LEAST:
        return f"{text[:room]}…{text[text.find('<') :]}"
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"


def fitting(columns: Sequence[Column], width: int) -> list[Column]:
    """Return the columns that fit into `width` with two spaces between them, of those without any value the fewest."""
    kept = list(columns)
    for each in sorted(columns, key=lambda column: (column.empty, column.rank), reverse=True):
        if not width or sum(column.width + 2 for column in kept) - 2 <= width:
            break
        if each.rank:
            kept = [column for column in kept if column is not each]
    return kept


def named_table(
    columns: Sequence[Column], names: Column, width: int = 0, *, indent: int = 0, name_least: int = NAME_LEAST
) -> tuple[list[str], list[str]]:
    """Return a table as lines, and the headings that were left out so that the lines fit into `width`. The last column is
    `names`, cut in the middle to no less than `name_least`; before one is cut, columns without any value go, and go unsaid.
    """
    least = min(names.width, name_least)
    kept = fitting(columns, max(width - indent - least - 2, 1) if width else 0)
    used = indent + sum(column.width + 2 for column in kept)
    if width and used + names.width > width:
        kept = [column for column in kept if not (column.rank and column.empty)]
        used = indent + sum(column.width + 2 for column in kept)
    shown = [cut_middle(name, max(width - used, least) if width else names.width) for name in (names.head, *names.cells)]
    rows = zip(*(column.aligned() for column in kept), shown, strict=True)
    heads = {column.head for column in kept}
    left_out = [each.head for each in columns if each.head not in heads and not each.empty]
    return [" " * indent + "  ".join(row) for row in rows], left_out


def wrapped(line: str, width: int) -> list[str]:
    """Return `line` as lines of at most `width` characters; those after the first begin where its text does, below no label."""
    if not width or len(line) <= width:
        return [line]
    width = max(width, WIDTH_LEAST)
    begins = _CELLS_BEFORE.match(line) or _FULL_LABEL.match(line)
    found = begins.end() if begins is not None and begins.end() <= width // 2 else 0
    indent = len(_INDENT.findall(line)[0])
    hang = found or (indent if indent > 2 else indent + 2)
    kept = _TOGETHER.sub(lambda match: match[0].replace(" ", "\xa0"), line)
    parts = textwrap.wrap(kept, width, subsequent_indent=" " * hang, break_on_hyphens=False, expand_tabs=False)
    return [part.replace("\xa0", " ") for part in parts]
