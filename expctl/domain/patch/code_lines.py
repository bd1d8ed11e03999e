"""Prepares source text for a search for forbidden patterns: removes comments, and joins statements that span several lines.

It needs whole files, because only the lines above a line tell whether it is inside a comment.
"""

import re
from collections.abc import Iterator, Sequence

from expctl.domain.patch.source_items import C_SUFFIXES, HASH_COMMENTS

# The lengths are bounded because unclosed quotes cost time; a number may hold a single quote.
PARTS = (
    r"(?s)(?P<comment>//(?:[^\\\n]|\\\r?\n|\\)*|/\*.*?(?:\*/|\Z))"
    r'|R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'
    r"|\"(?:\\.|[^\"\\\n]){0,500}\"|'(?:\\.|[^'\\\n]){0,500}'|(?<!\w)\.?\d[\w.']*"
)
HASH_COMMENT = r"(^|\s)#.*"
ENDS = (";", "{", "}")
JOINED_MAX = 400


def code_lines(path: str, text: str) -> tuple[str, ...]:
    """Return the lines of `text`, as many as before, without comments. Unchanged if the language of `path` is unknown."""
    if path.endswith(C_SUFFIXES):
        return tuple(re.sub(PARTS, _without_comment, text).split("\n"))
    lines = text.split("\n")
    return tuple(re.sub(HASH_COMMENT, "", line) for line in lines) if path.endswith(HASH_COMMENTS) else tuple(lines)


def added_lines(path: str, text: str, added: Sequence[int]) -> tuple[str, ...]:
    """Return the lines of `text` at indices `added` (from 0) without comments and blank lines. In C-like files, every statement
    that spans several of these lines follows once more, joined to one line.
    """
    if not added:
        return ()
    lines = code_lines(path, text)
    found = [lines[at] for at in added if lines[at].strip()]
    if path.endswith(C_SUFFIXES):
        found += [line for run in _runs(lines, added) for line in _joined(run)]
    return tuple(found)


def _without_comment(part: re.Match[str]) -> str:
    return part[0] if part["comment"] is None else " " + "\n" * part[0].count("\n")


def _runs(lines: Sequence[str], added: Sequence[int]) -> Iterator[list[str]]:
    """Yield groups of successive added lines, without the blank ones; an old line between two added lines ends a group."""
    run: list[str] = []
    for before, at in zip((added[0], *added), added, strict=False):
        if at > before + 1:
            yield run
            run = []
        run += [lines[at].rstrip()] if lines[at].strip() else []
    yield run


def _joined(run: Sequence[str]) -> Iterator[str]:
    text, parts = "", 0
    for line in run:
        spliced = text.endswith("\\")
        if not spliced and line.lstrip().startswith("#"):
            yield from [text] if parts > 1 else []
            text, parts = "", 0
        text, parts = (text[:-1] + line, parts + 1) if spliced else (f"{text} {line.strip()}".strip(), parts + 1)
        directive = text.startswith("#") and not line.endswith("\\")
        if directive or line.endswith(ENDS) or len(text) > JOINED_MAX:
            yield from [text] if parts > 1 else []
            text, parts = "", 0
    yield from [text] if parts > 1 else []
