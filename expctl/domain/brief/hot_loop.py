"""The section of the brief about hot loops: where the time goes, what bounds it, what each KEEP changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from expctl.domain.brief.word_limit import Section

if TYPE_CHECKING:
    from expctl.domain.ledger.hot_loop_card import HotLoopCard

NONE_ASKED = "protocol.yaml asks for none: a target with `hot_loop:` would be shown (docs/PROTOCOL.md of expctl)."


def hot_loop_section(
    cards: Sequence[HotLoopCard], changes: Sequence[str], uncounted: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Section:
    """Return the brief's section about hot loops; `uncounted` tells by target of those that weren't counted. Cards are never
    shortened; the lines of source and older KEEPs may be.
    """
    items = [f"{card.target}, most instructions: {text}" for card in cards for text in card.costly]
    return Section(
        key="hot_loop",
        title="Hot loop",
        intro=(*_intro(cards, uncounted),),
        items=(*(f"changed by {text}" for text in changes), *items),
        share=0.2,
        more="expctl explain",
    )


def _intro(cards: Sequence[HotLoopCard], uncounted: Mapping[str, Sequence[str]]) -> Iterator[str]:
    if not cards:
        yield NONE_ASKED
    for card in cards:
        yield from (f"{card.target}: {line}" for line in card.lines)
        yield from uncounted.get(card.target, ())
    if cards:
        yield (
            "Instructions and cycles of this section are counted from machine code, never timed; a profile's times are of"
            " launches one after the other, so what is won between launches doesn't show there."
        )
