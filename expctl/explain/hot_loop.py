"""Choose the loop that a kernel spends its time in, and how often it was gone through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from expctl.gpu.loops import entries_of, loops_of
from expctl.inspection.model.instruction_mix import Body, flows, hottest


@dataclass(frozen=True, slots=True, kw_only=True)
class HotLoop:
    """Statements that are explained together, by their indices. `header` is the one through which each iteration goes."""

    members: frozenset[int]
    header: int
    is_loop: bool = True
    """False for a whole kernel, in which no loop was found or run; an iteration is then a wave."""


def hot_loop(body: Body, executed: Sequence[int] | None) -> HotLoop:
    """Return the loop that executed most instructions outside of loops within it. Where nothing was executed (None), it is the
    one that `inspect` takes.
    """
    members = hottest(body) if executed is None else _most_executed(body, executed)
    if not members:
        return HotLoop(members=frozenset(range(len(body.statements))), header=0, is_loop=False)
    entries = entries_of(members, flows(body))
    return HotLoop(members=members, header=max(entries, key=lambda index: executed[index] if executed else 0))


def _most_executed(body: Body, executed: Sequence[int]) -> frozenset[int]:
    loops = loops_of(flows(body))

    def own(loop: frozenset[int]) -> int:
        return sum(executed[index] for index in loop.difference(*(inner for inner in loops if inner < loop)))

    found = max(loops, key=own, default=frozenset())
    return found if found and own(found) else frozenset()
