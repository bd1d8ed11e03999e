"""Memory that a function of LLVM IR has for itself: what lives one after another has one place, as a stack would give it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from expctl.inspection.readers.llvm_text import NAME, Block

LOCAL = re.compile(r"%\d+\b")
_LIFETIME = re.compile(rf"@llvm\.lifetime\.(start|end)[^%]*({LOCAL.pattern})")
_LABEL = re.compile(rf"label %({NAME})")
_ADDRESSES = ("getelementptr ", "addrspacecast ", "bitcast ")


def rooms(kinds: Mapping[str, str], blocks: Sequence[Block], written: Sequence[Block]) -> Mapping[str, int]:
    """Return the place of each memory among those of its kind: the first that nothing has which lives at the same time, in the
    order in which `blocks` use them. So neither the order in which it is declared counts, nor whether what lives one after the
    other is declared once. `written` are the blocks in which each mark of a lifetime stands where the compiler put it.
    """
    if not kinds:
        return {}
    beside, found = _beside(kinds, written), {}  # type: Mapping[str, set[str]], dict[str, int]
    for name in dict.fromkeys((*_used(kinds, blocks), *kinds)):
        taken = {found[other] for other in beside[name] if other in found and kinds[other] == kinds[name]}
        found[name] = next(place for place in count() if place not in taken)
    return found


def _used(kinds: Mapping[str, str], blocks: Sequence[Block]) -> Iterator[str]:
    """Yield memory where it is used. An address is where its user is, not where it was computed."""
    within = {name: name for name in kinds}
    for each in (each for block in blocks for each in block.body if not _LIFETIME.search(each.text)):
        names = [within[name] for name in LOCAL.findall(each.text) if name in within]
        if names and each.text.startswith(_ADDRESSES):
            within[each.result] = names[0]
        else:
            yield from names


def _beside(kinds: Mapping[str, str], blocks: Sequence[Block]) -> Mapping[str, set[str]]:
    """Return what may live at the same time as each memory, on any way. What has no mark where it begins lives always."""
    marks = {block.label: [*_marks(block, kinds)] for block in blocks}
    begun = {name for found in marks.values() for begins, name in found if begins}
    always = kinds.keys() - begun
    found: dict[str, set[str]] = {name: {*(kinds if name in always else always)} - {name} for name in kinds}
    living: dict[str, set[str]] = {blocks[0].label: set()}
    after = {block.label: [*_LABEL.findall(block.body[-1].text)] for block in blocks}
    waiting = [blocks[0].label]
    while waiting:
        label = waiting.pop()
        now = {*living[label]}
        for begins, name in marks.get(label, ()):
            if not begins:
                now.discard(name)
                continue
            found[name] |= now - {name}
            for other in now - {name}:
                found[other].add(name)
            now.add(name)
        for each in after.get(label, ()):
            if each not in living or not now <= living[each]:
                living[each] = living.get(each, set()) | now
                waiting.append(each)
    return found


def _marks(block: Block, kinds: Mapping[str, str]) -> Iterator[tuple[bool, str]]:
    for each in block.body:
        if (mark := _LIFETIME.search(each.text)) and mark[2] in kinds:
            yield mark[1] == "start", mark[2]
