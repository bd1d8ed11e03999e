"""A text of sections under a cap on its words: the least useful items go first, and every section says how many went."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

OF_NOTICE = 14  # words of the line that says what was left out
OF_BULLET = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """`items` are sentences, the most useful first; `intro` is never cut, nor are the first `least` items.

    `left_out` counts the items that a cap took away, `more` says where they all are.
    """

    key: str
    title: str
    intro: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    least: int = 0
    more: str = "ledger.md"
    left_out: int = 0


def words(text: str) -> int:
    """Words as `wc -w` counts them."""
    return len(text.split())


def within(sections: Sequence[Section], cap: int) -> tuple[Section, ...]:
    """The sections with as many items as `cap` words hold, filled in the order of `sections`, the most useful first.

    Each section first gets its `least` items. Titles, intros and those are kept whatever the cap.
    """
    kept = [min(section.least, len(section.items)) for section in sections]
    used = sum(
        _fixed(section) + sum(_cost(item) for item in section.items[:n]) for section, n in zip(sections, kept, strict=True)
    )
    for at, section in enumerate(sections):
        for item in section.items[kept[at] :]:
            if used + _cost(item) > cap:
                break
            used += _cost(item)
            kept[at] += 1
    return tuple(
        replace(section, items=section.items[:n], left_out=section.left_out + len(section.items) - n)
        for section, n in zip(sections, kept, strict=True)
    )


def _fixed(section: Section) -> int:
    return OF_BULLET + words(section.title) + sum(OF_BULLET + words(line) for line in section.intro) + OF_NOTICE


def _cost(item: str) -> int:
    return OF_BULLET + words(item)
