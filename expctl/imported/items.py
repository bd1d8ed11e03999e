"""The items of lists in a hand-kept ledger: bullets, and paragraphs that begin in bold."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from expctl.imported.document import Line, Section
from expctl.imported.fields import field_of
from expctl.imported.headings import SPLIT

FENCE = re.compile(r"\s*(?:```|~~~)")
CONTINUED = re.compile(r"\s+\S")
# `**wider loads** (12 regs): ...` says in bold what was tried.
BOLD = re.compile(r"\W{0,6}(?:\*\*|__)(?P<bold>.+?)(?:\*\*|__)(?P<rest>.*)", re.DOTALL)
BOLD_START = re.compile(r"(?:\*\*|__)\S")
BULLET = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+(\S.*)")
NUMBER = re.compile(r"\s*(\d{1,6})[.)]\s")
TITLE_MAX = 200
LISTED = re.compile(r"\s+\S|\s*(?:[-*+]|\d+[.)])\s")
# `**Changes tested:**` before a list, whose items tell what an experiment did
TELLS_CHANGES = re.compile(
    r"[*_]*(?:what (?:was )?changed|(?:(?:code|key|the) )?(?:changes|modifications)(?: (?:made|tested|tried|applied))?"
    r"|implementation|set-?up|(?:alternatives|options)(?: considered)?)(?: \([^()]*\))?[*_]*:[*_]*",
    re.IGNORECASE,
)


@dataclass(slots=True, kw_only=True)
class Item:
    """An item of a list, and those inside it; `numbered` has a number for its mark."""

    line: int
    indent: int
    text: str
    numbered: bool
    inside: "list[Item]" = field(default_factory=list)

    def all(self) -> "Iterator[Item]":
        """Yield the item, and all inside it."""
        yield self
        for each in self.inside:
            yield from each.all()


def told_changes(lines: Sequence[Line]) -> frozenset[int]:
    """Return the numbers of the lines of lists that a line such as `Changes:` leads in."""
    found: set[int] = set()
    for at, line in enumerate(lines):
        if TELLS_CHANGES.fullmatch(line.text.strip()):
            found.update(each.number for each in itertools.takewhile(is_listed, lines[at + 1 :]))
    return frozenset(found)


def is_listed(line: Line) -> bool:
    """Is it blank, an item, or the rest of one?"""
    return not line.text.strip() or bool(LISTED.match(line.text))


def tree(lines: Sequence[Line]) -> list[Item]:
    """Return the outermost items of the lists in `lines`, each with those inside it.

    What is indented more stands inside, and so do labelled parts (`- Result: ...`) below a number.
    """
    text_of = {line.number: line.text for line in lines}
    outer: list[Item] = []
    above: list[Item] = []
    for number, text, paragraph in items(lines):
        item = Item(line=number, indent=_indent(text_of[number]), text=text, numbered=bool(NUMBER.match(text_of[number])))
        while above and not (above[-1].indent < item.indent or (not paragraph and _is_part(item, above[-1]))):
            above.pop()
        (above[-1].inside if above else outer).append(item)
        above.append(item)
    return outer


def _is_part(item: Item, of: Item) -> bool:
    return of.numbered and not item.numbered and item.indent == of.indent and field_of(item.text) is not None


def items(lines: Sequence[Line]) -> Iterator[tuple[int, str, bool]]:
    """Yield (line number, text, False) of each bullet, and (line number, text, True) of each paragraph that begins in bold.

    Their continued lines are joined.
    """
    open_at, parts, paragraph, after_text, after_line, counted = 0, [""], False, False, False, 0
    for line in lines:
        bullet = BULLET.fullmatch(line.text)
        number = NUMBER.match(line.text)
        if number and after_line and int(number[1]) not in (1, counted + 1):
            bullet = None  # a figure that begins a line
        counted = int(number[1]) if number and bullet else counted
        after_line = bool(line.text.strip())
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
