"""The items of lists in a hand-kept ledger: bullets, and paragraphs that begin in bold."""

import re
from collections.abc import Iterator, Sequence

from expctl.imported.document import Line, Section
from expctl.imported.headings import SPLIT

FENCE = re.compile(r"\s*(?:```|~~~)")
CONTINUED = re.compile(r"\s+\S")
# `**wider loads** (12 regs): ...` says in bold what was tried.
BOLD = re.compile(r"\W{0,6}(?:\*\*|__)(?P<bold>.+?)(?:\*\*|__)(?P<rest>.*)", re.DOTALL)
BOLD_START = re.compile(r"(?:\*\*|__)\S")
BULLET = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+(\S.*)")
TITLE_MAX = 200


def items(lines: Sequence[Line]) -> Iterator[tuple[int, str, bool]]:
    """Yield (line number, text, False) of each bullet, and (line number, text, True) of each paragraph that begins in bold.

    Their continued lines are joined.
    """
    open_at, parts, paragraph, after_text = 0, [""], False, False
    for line in lines:
        bullet = BULLET.fullmatch(line.text)
        begins = BOLD_START.match(line.text) and not after_text
        if open_at and (bullet or begins or not (CONTINUED.match(line.text) or (paragraph and line.text.strip()))):
            yield open_at, " ".join(parts), paragraph
            open_at = 0
        if bullet or begins:
            open_at, parts, paragraph = line.number, [bullet[2] if bullet else line.text], not bullet
        elif open_at:
            parts.append(line.text.strip())
        after_text = bool(line.text.strip()) and not bullet
    if open_at:
        yield open_at, " ".join(parts), paragraph


def outer_items(section: Section, *, paragraphs: bool = True) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of each item of the lists in `section` that is part of no other item."""
    lines = {line.number: line.text for line in section.lines}
    found = items(tuple(outside_fences(section.lines)))
    kept = [(line, text) for line, text, paragraph in found if paragraphs or not paragraph]
    least = min((_indent(lines[line]) for line, _ in kept), default=0)
    yield from ((line, text) for line, text in kept if _indent(lines[line]) == least)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def outside_fences(lines: tuple[Line, ...]) -> Iterator[Line]:
    """Yield the lines that stand in no fenced code."""
    fenced = False
    for line in lines:
        if FENCE.match(line.text):
            fenced = not fenced
        elif not fenced:
            yield line


def parted(text: str) -> tuple[str, str]:
    """Return what was tried, and the rest of the text: the bold part of an item, else what stands before a colon or a dash."""
    bold = BOLD.match(text)
    if bold:
        return bold["bold"].strip(" :.-–—"), bold["rest"].lstrip(" :.-–—")
    split = SPLIT.search(text, 0, 2 * TITLE_MAX)
    cut = split.start() if split and 0 < split.start() <= TITLE_MAX else min(len(text), TITLE_MAX)
    return text[:cut].strip(), text[cut:].lstrip(" :.-–—")
