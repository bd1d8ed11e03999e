"""Take Markdown's emphasis from words that an author wrote, and nothing else."""

import re

EMPHASIS = re.compile(r"(?<![\w)*])(\*{1,3})(?=[^\s*])([^*]+?)(?<=[^\s*])\1(?![\w(*])")
LEFT_OVER = re.compile(r"^\s*\*+(?=[^\s*])|(?<=[^\s*])\*+(?=[\s:.]*$)")
# A dash before a word is one of a list; that of `-O3` is not.
DASHES = re.compile(r"^(?:[\s:–—]|-+(?=\s|$))+|[\s:–—-]+$")


def unmarked(text: str) -> str:
    """Return `text` without the asterisks of emphasis, nor those left of a pair at either end. Those of `2*x`, `a * b` and
    `x**2` stay.
    """
    return LEFT_OVER.sub("", EMPHASIS.sub(r"\2", text))


def undashed(text: str) -> str:
    """Return `text` without colons and dashes around it; an option such as `-O3` keeps its own."""
    return DASHES.sub("", text)
