"""Makes a program smaller while both sides still contradict each other."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from benchmarks.check.random_programs.comparison import Outcome, outcomes
from benchmarks.check.random_programs.program import Program
from benchmarks.check.random_programs.syntax_tree import Edit, Expression, Node, all_expressions, all_nodes, text_of

AT_ONCE = 8
"""Variants that are compiled as one file, where one after the other fails."""
PARTS = (2, 4, 8, 16, 32, 1000)
"""Into how many parts the statements are cut, of which one is left out."""
Judge = Callable[[Sequence[Program], str], list[Outcome]]


def shrunk(first: Outcome, budget_s: float, judge: Judge = outcomes) -> Outcome:
    """Return the outcome of the smallest variant found within `budget_s` seconds that has the same answer at the same level."""
    end_s = time.monotonic() + budget_s
    best = first
    ways: tuple[Callable[[Program], list[Program]], ...] = (*(partial(_without, parts) for parts in PARTS), _unfolded, _simpler)
    for _ in range(2):
        for variants in ways:
            best = _descended(best, variants, end_s, judge)
    return best


def _descended(best: Outcome, variants: Callable[[Program], list[Program]], end_s: float, judge: Judge) -> Outcome:
    """Take the first variant that has the same answer, again and again, until none of them has."""
    at, count = 0, 1
    while time.monotonic() < end_s:
        some = [each.variant_numbered(i) for i, each in enumerate(variants(best.program)[at : at + count])]
        if not some:
            break
        found = judge(some, best.level)
        place = next((i for i, each in enumerate(found) if each.answer is best.answer), len(found))
        best = found[place] if place < len(found) else best
        at, count = at + place, 1 if place < len(found) else min(2 * count, AT_ONCE)
    return best


def _without(parts: int, program: Program) -> list[Program]:
    """Return the program without each of `parts` runs of statements or declarations; names that are used stay declared."""
    nodes = [each for each in all_nodes(program.outer + program.body) if not each.is_fixed]
    count = max(len(nodes) // parts, 1)
    found = (_dropped(program, nodes[i : i + count]) for i in range(0, len(nodes), count))
    return [each for each in found if each is not None]


def _dropped(program: Program, nodes: Sequence[Node]) -> Program | None:
    for _ in range(len(nodes)):
        found = _edited(program, Edit(nodes={id(each): () for each in nodes}, expressions={}))
        kept = [each for each in nodes if not (each.declares and _uses(found, each.declares))]
        if len(kept) == len(nodes):
            return found
        nodes = kept
    return None


def _unfolded(program: Program) -> list[Program]:
    """Return the program with each branch, loop or phase of the body replaced by the statements in it."""
    found = []
    for node in all_nodes(program.body):
        inner = tuple(each for block in node.blocks for each in block if not each.is_jump)
        if node.blocks and not (node.declares and re.search(rf"\b{node.declares}\b", text_of(inner))):
            found.append(_edited(program, Edit(nodes={id(node): inner}, expressions={})))
    return found


def _simpler(program: Program) -> list[Program]:
    """Return the program with each expression replaced by one of the same type within it, or by a constant."""
    return [
        _edited(program, Edit(nodes={}, expressions={id(old): new}))
        for old in all_expressions(program.outer + program.body)
        if old.parts
        for new in _simpler_ones(old)
    ]


def _simpler_ones(old: Expression) -> list[Expression]:
    within = [each for part in old.parts for each in part.all() if each.type == old.type]
    return [Expression(old.type, f"(({old.type})0)"), Expression(old.type, f"(({old.type})1)"), *within[:3]]


def _edited(program: Program, edit: Edit) -> Program:
    """Return the program after an edit, without parameters that nothing uses."""
    found = replace(program, outer=edit.of(program.outer), body=edit.of(program.body))
    return replace(found, parameters=tuple(each for each in found.parameters if _uses(found, each.name)))


def _uses(program: Program, name: str) -> bool:
    return re.search(rf"\b{name}\b", text_of(program.outer) + text_of(program.body)) is not None
