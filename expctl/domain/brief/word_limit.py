"""Shortens a text to a number of words by dropping the least useful items of its sections, and counts what it dropped."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

OF_NOTICE = 14  # words of the line that says what was left out
OF_BULLET = 1
ITEMS_MAX = 150  # more never fit into the words of a brief


class Section(Struct, frozen=True, kw_only=True):
    """One section of a text. `intro` is never shortened; `items` are sentences, of which the last are dropped first.

    `share` is the fraction of the available words that is reserved for its items. `left_out` counts the dropped items; `more`
    is the file or command that shows all.
    """

    key: str
    title: str
    intro: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    share: float = 0.0
    more: str = "ledger.md"
    left_out: int = 0


def words(text: str) -> int:
    """Return the number of words in `text`, counted like `wc -w`."""
    return len(text.split())


def within(sections: Sequence[Section], cap: int) -> tuple[Section, ...]:
    """Return the sections with as many items as fit into `cap` words. Titles and intros are always kept. First every section
    keeps the items that fit into its share; then the words left over go to the sections in their order.
    """
    free = max(0, cap - sum(_fixed(section) for section in sections))
    kept = [_fill(section, 0, int(section.share * free)) for section in sections]
    for at, section in enumerate(sections):
        used = sum(_cost(item) for each, n in zip(sections, kept, strict=True) for item in each.items[:n])
        kept[at] = _fill(section, kept[at], free - used)
    return tuple(
        replace(section, items=section.items[:n], left_out=section.left_out + len(section.items) - n)
        for section, n in zip(sections, kept, strict=True)
    )


def _fill(section: Section, start: int, free: int) -> int:
    """Return how many items of `section` to keep: the first `start`, and the following ones that fit into `free` words."""
    for number, item in enumerate(section.items[start:], start=start):
        free -= _cost(item)
        if free < 0:
            return number
    return len(section.items)


def _fixed(section: Section) -> int:
    return OF_BULLET + words(section.title) + sum(OF_BULLET + words(line) for line in section.intro) + OF_NOTICE


def _cost(item: str) -> int:
    return OF_BULLET + words(item)
