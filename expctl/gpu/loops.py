"""Find the loops of a function in its control flow graph, wherever their blocks lie in the text.

A loop is a strongly connected part of the graph; the loops within it are those that are left without its header, the block by
which it is entered (Bourdoncle, "Efficient chaotic iteration strategies with widenings", 1993). Where a loop has one entry,
these are the natural loops; compilers write some with two, into the middle of a rotated loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

Graph = Mapping[int, Collection[int]]
"""Block -> the blocks that may follow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Where control goes after an instruction: to the index `target` (None: nowhere), and if `goes_on` to the next one."""

    target: int | None = None
    goes_on: bool = True


def loops_of(flows: Sequence[Flow]) -> list[frozenset[int]]:
    """Return the loops of a function, whose first instruction is its entry, as sets of indices of instructions."""
    begins = _begins(flows)
    extents = list(zip(begins, [*begins[1:], len(flows)], strict=True))
    block_of = {begin: number for number, begin in enumerate(begins)}
    graph: dict[int, list[int]] = {}
    for number, (_, end) in enumerate(extents):
        graph[number] = [block_of[each] for each in followers(flows, end - 1)]
    reached = _order(graph, [0]) if graph else []
    found = _loops({block: graph[block] for block in reached})
    return [frozenset(each for block in loop for each in range(*extents[block])) for loop in found]


def followers(flows: Sequence[Flow], index: int) -> list[int]:
    """Return the instructions that may follow instruction `index`."""
    flow = flows[index]
    to = [flow.target] if flow.target is not None else []
    return [*to, index + 1] if flow.goes_on and index + 1 < len(flows) else to


def entries_of(loop: Collection[int], flows: Sequence[Flow]) -> list[int]:
    """Return the instructions by which a loop that `loops_of` found is entered, in the order of the text."""
    outside = (index for index in range(len(flows)) if index not in loop)
    return sorted({to for index in outside for to in followers(flows, index) if to in loop} | ({0} & set(loop)))


def _begins(flows: Sequence[Flow]) -> list[int]:
    targets = {flow.target for flow in flows if flow.target is not None}
    after = {i + 1 for i, flow in enumerate(flows) if flow.target is not None or not flow.goes_on}
    return sorted(begin for begin in {0, *targets, *after} if begin < len(flows))


def _loops(graph: Graph) -> Iterator[set[int]]:
    """Yield the loops of a graph, each before those within it."""
    for part in _connected(graph):
        (first, *more) = sorted(part)
        if not more and first not in graph[first]:
            continue
        yield part
        entered = {to for block, after in graph.items() if block not in part for to in after} & part
        rest = part - {min(entered, default=first)}
        yield from _loops({block: [to for to in graph[block] if to in rest] for block in rest})


def _connected(graph: Graph) -> Iterator[set[int]]:
    """Yield the strongly connected parts of a graph (Kosaraju's algorithm)."""
    backwards: dict[int, list[int]] = {block: [] for block in graph}
    for block, after in graph.items():
        for to in after:
            if to in backwards:
                backwards[to].append(block)
    left = dict(backwards)
    for block in reversed(_order(graph, sorted(graph))):
        if block in left:
            part = set(_order(left, [block]))
            yield part
            for each in part:
                del left[each]


def _order(graph: Graph, begins: Sequence[int]) -> list[int]:
    """Return the blocks that are reached from `begins`, each after those that are reached from it first (depth first)."""
    done: list[int] = []
    seen: set[int] = set()
    for begin in begins:
        waiting = [(begin, iter(graph[begin]))] if begin not in seen else []
        seen.add(begin)
        while waiting:
            block, after = waiting[-1]
            to = next((each for each in after if each in graph and each not in seen), None)
            if to is None:
                done.append(block)
                waiting.pop()
            else:
                seen.add(to)
                waiting.append((to, iter(graph[to])))
    return done
