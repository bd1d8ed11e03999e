"""Limits the words of a text by dropping the least useful items of its sections, and counts the dropped ones."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

OF_NOTICE = 14  # words of the line that says what was left out
OF_BULLET = 1
ITEMS_MAX = 150  # more never fit into the words of a brief


class Section(Struct, frozen=True, kw_only=True):
    """One section: `intro` is never shortened; `items` are sentences, the most useful first.

    `share` is the fraction of the words beyond titles and intros that its items get before other sections. `left_out` counts
    dropped items; `more` names the file or command that shows all.
    """

    key: str
    title: str
    intro: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    share: float = 0.0
    more: str = "ledger.md"
    left_out: int = 0


def words(text: str) -> int:
    """Count words like `wc -w`."""
    return len(text.split())


def within(sections: Sequence[Section], cap: int) -> tuple[Section, ...]:
    """Return the sections with as many items as `cap` words hold. Titles and intros are always kept.

    First every section fills its share, the most useful items first; the remaining words go to the sections in order.
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
    """Return the number of items kept in all if those from `start` on may take `free` words."""
    for number, item in enumerate(section.items[start:], start=start):
        free -= _cost(item)
        if free < 0:
            return number
    return len(section.items)


def _fixed(section: Section) -> int:
    return OF_BULLET + words(section.title) + sum(OF_BULLET + words(line) for line in section.intro) + OF_NOTICE


def _cost(item: str) -> int:
    return OF_BULLET + words(item)
