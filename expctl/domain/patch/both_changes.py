"""Make one text of two that were each changed from the same one, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher

PAIRS_MAX = 2_000_000
"""Of equal lines, one of each text: more take longer than a second. Python's source of 6,400 lines has half as many."""

Edit = tuple[int, int, tuple[str, ...]]
"""Lines from, to (without) and what stands there instead."""


def with_both(before: str, one: str, other: str) -> str | None:
    """Return `before` with the changes of both texts; None where they change the same lines, or the same line stands there too
    often. Of two insertions at one place, that of `one` comes first; a change that both make is made once.
    """
    if any(_pairs(before, each) > PAIRS_MAX for each in (one, other)):
        return None
    lines, edits = before.split("\n"), []  # type: list[str], list[Edit]
    for each in (*_edits(before, one), *_edits(before, other)):
        if each not in edits:
            edits.append(each)
    out, done = [], 0  # type: list[str], int
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        if start < done:
            return None
        out += [*lines[done:start], *new]
        done = end
    return "\n".join([*out, *lines[done:]])


def _pairs(before: str, after: str) -> int:
    old, new = (Counter(each.split("\n")) for each in (before, after))
    return sum(count * new[line] for line, count in old.items())


def _edits(before: str, after: str) -> Iterator[Edit]:
    old, new = before.split("\n"), after.split("\n")
    for kind, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield start, end, tuple(new[first:last])
