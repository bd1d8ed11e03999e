"""A text of sections under a cap on its words: the least useful items go first, and every section says how many went."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

OF_NOTICE = 14  # words of the line that says what was left out
OF_BULLET = 1
ITEMS_MAX = 150  # more never fit into a text that people read, so that nobody need write them


class Section(Struct, frozen=True, kw_only=True):
    """`items` are sentences, the most useful first; `intro` is never cut. `share` is the part of the free words that the
    items may have before others have theirs. `left_out` counts what was taken away, `more` says where all of it is.
    """

    key: str
    title: str
    intro: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    share: float = 0.0
    more: str = "ledger.md"
    left_out: int = 0


def words(text: str) -> int:
    """Words as `wc -w` counts them."""
    return len(text.split())


def within(sections: Sequence[Section], cap: int) -> tuple[Section, ...]:
    """The sections with as many items as `cap` words hold. Titles and intros are kept whatever the cap.

    First every section fills its share, the most useful items first; what is then free goes to the sections in their order.
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
    """How many items there are when, from `start` on, as many are taken as fit into `free` words."""
    for number, item in enumerate(section.items[start:], start=start):
        free -= _cost(item)
        if free < 0:
            return number
    return len(section.items)


def _fixed(section: Section) -> int:
    return OF_BULLET + words(section.title) + sum(OF_BULLET + words(line) for line in section.intro) + OF_NOTICE


def _cost(item: str) -> int:
    return OF_BULLET + words(item)
