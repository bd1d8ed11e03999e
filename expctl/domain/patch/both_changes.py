"""Make one text of two that were each changed from the same one, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

Edit = tuple[int, int, tuple[str, ...]]
"""Lines from, to (without) and what stands there instead."""


def with_both(before: str, one: str, other: str) -> str | None:
    """Return `before` with the changes of both texts; None where they change the same lines. Of two insertions at one place,
    that of `one` comes first; a change that both make is made once.
    """
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


def _edits(before: str, after: str) -> Iterator[Edit]:
    old, new = before.split("\n"), after.split("\n")
    for kind, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield start, end, tuple(new[first:last])
