"""Find the headings and items that say the words of which a user told what they mean, where no verdict was understood."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence, Set

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import Document
from expctl.imported.headings import PART, SPLIT, experiments_of
from expctl.imported.items import outer_items, outside_fences, parted
from expctl.imported.verdicts import said_as

Meanings = Mapping[str, Verdict | None]
# So many words in running text are those of the user by no accident.
LONG = 3
BRACKETS = re.compile(r"\s*\([^()]*\)")
SEPARATED = re.compile(r"\W")
PAUSES = re.compile(r"\W*$|\s*[,;:.!(\[]")


def said_of_lines(document: Document, meanings: Meanings, read: Set[int]) -> dict[int, Verdict | None]:
    """Return what the words of the user mean for headings and items outside the lines `read`, by line number.

    A heading or the title of an item has them where a part of it begins; a heading that says nothing else, and has a list,
    rules its items. A longer phrase counts anywhere in an item, or in a section, which must not tell of several.
    """
    found: dict[int, Verdict | None] = {}
    starts = [section.line for section in document.sections]
    full = {starts[bisect_right(starts, line) - 1] for line in read} if starts else set()
    for section in experiments_of(document.sections) if meanings else ():
        if section.title == document.title or PART.fullmatch(section.title) or section.line in read:
            continue
        listed = list(outer_items(section, paragraphs=False))
        whole = _of_title(section.title, meanings, heading=True)
        rules = said_as(BRACKETS.sub("", section.title))
        ruled = {meanings[rules]} if len(listed) > 1 and rules in meanings else set()
        for line, text in listed if not whole or ruled else ():
            said = _of_title(parted(text)[0], meanings) or ruled or _in_text(text, meanings)
            if line not in read and len(said) == 1:
                (found[line],) = said
        if ruled or section.line in full or any(line.number in found for line in section.lines):
            continue
        said = whole or _in_text(" ".join(line.text.strip() for line in outside_fences(section.lines)), meanings)
        if len(said) == 1:
            (found[section.line],) = said
    return found


def _of_title(title: str, meanings: Meanings, *, heading: bool = False) -> set[Verdict | None]:
    """Return what the parts of a title mean that begin with words of the user; the last part that has some decides.

    A `heading` of which they begin the first part must end or pause behind them: `Current best configuration` states nothing.
    """
    parts: Sequence[str] = [part for part in SPLIT.split(title) if part.strip()]
    found = ((part, heading and at == 0) for at, part in reversed(tuple(enumerate(parts))))
    return next((said for part, first in found if (said := _begins(part, meanings, alone=first))), set())


def _begins(text: str, meanings: Meanings, *, alone: bool) -> set[Verdict | None]:
    """Return what the longest words of the user mean with which `text` begins; `alone`: no other word follows them."""
    plain = said_as(text.strip("#*_ ([")) + " "
    behind = PAUSES if alone else SEPARATED
    words = max((each for each in meanings if plain.startswith(each) and behind.match(plain[len(each) :])), key=len, default="")
    return {meanings[words]} if words else set()


def _in_text(text: str, meanings: Meanings) -> set[Verdict | None]:
    plain = said_as(text)
    return {verdict for words, verdict in meanings.items() if len(words.split()) >= LONG and words in plain}
