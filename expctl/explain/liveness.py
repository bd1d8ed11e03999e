"""Which vector registers hold a value that is still needed, by backward data flow over the control flow graph.

A register is live before an instruction if there is a way from there to one that reads it, on which nothing overwrites it. It
is live for the lanes that are active there: others may keep something in a register that these use. The graph is that of a
lane, so an instruction that masks lanes off is also followed by the one that puts the saved mask back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from expctl.explain.registers import access_of
from expctl.gpu.loops import followers
from expctl.inspection.model.instruction_mix import Body, flows

_SAVES = re.compile(r"s_mov_b\d+ (s\S+), exec(?:_lo)?$|s_\w+_saveexec_b\d+ ([^,]+),")
_REMOVES = re.compile(
    r"s_(?:and_not1|andn2|xor)_b\d+ exec(?:_lo)?, exec(?:_lo)?, (\S+)|s_(?:and|and_not1|andn2|xor)_saveexec_b\d+ ([^,]+),"
)
"""Instructions that mask lanes off which the register named keeps."""
_CUTS = re.compile(r"v_cmpx_|s_and_b\d+ exec(?:_lo)?,")
"""Instructions that mask lanes off which the register keeps that the mask was saved in before."""
_RESTORES = re.compile(r"s_(?:or|xor|mov)_b\d+ exec(?:_lo)?,|s_(?:or|and_not1|andn2|xor)_saveexec_")


def live_halves(body: Body) -> list[int]:
    """Return for each statement the halves of vector registers that are live before it, as a set of registers.py."""
    after = lane_graph(body)
    accesses = [access_of(each) for each in body.statements]
    live = [0] * len(accesses)
    changed = True
    while changed:
        changed = False
        for index in reversed(range(len(accesses))):
            needed = 0
            for follower in after[index]:
                needed |= live[follower]
            needed = needed & ~accesses[index].kills | accesses[index].reads
            changed |= needed != live[index]
            live[index] = needed
    return live


def lane_graph(body: Body) -> list[list[int]]:
    """Return for each statement those at which a lane may go on after it."""
    ways = flows(body)
    after = [followers(ways, index) for index in range(len(ways))]
    text = [f"{each.mnemonic} {each.operands}" for each in body.statements]
    return [[*following, *_resumptions(text, after, index)] for index, following in enumerate(after)]


def _resumptions(text: Sequence[str], after: Sequence[Sequence[int]], index: int) -> Iterator[int]:
    """Yield the statements at which lanes go on that the statement at `index` masks off: the first on each way that put back
    the mask in which they are kept.
    """
    kept = _kept_in(text, index)
    waiting, seen = list(after[index]) if kept else [], set[int]()
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        result, *sources = text[at].partition(" ")[2].replace(" ", "").split(",")
        if _RESTORES.match(text[at]) and kept in sources:
            yield at
        elif result != kept or kept in sources:
            waiting += after[at]


def _kept_in(text: Sequence[str], index: int) -> str:
    """Return the scalar register that keeps the lanes which the statement at `index` masks off, "" if it masks none off."""
    if _CUTS.match(text[index]):
        return next((_register(match) for each in reversed(text[:index]) if (match := _SAVES.match(each))), "")
    removes = _REMOVES.match(text[index])
    return _register(removes) if removes else ""


def _register(match: re.Match[str]) -> str:
    return next(name for name in match.groups() if name)
