"""Makes a program another one by a single operator, to show that a difference between both sides is found."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from benchmarks.check.random_programs.program import Program
from benchmarks.check.random_programs.syntax_tree import Edit, Expression, all_expressions

SWAPS = (
    (" + ", " - "), (" - ", " + "), (" * ", " + "), ("{0} & {1}", "{0} | {1}"), ("{0} | {1}", "{0} & {1}"), (" ^ ", " | "),
    (" < ", " >= "), (" > ", " <= "), (" == ", " != "), ("? {1} : {2}", "? {2} : {1}"), ("least", "most"), ("most", "least"),
    ("quotient", "remaining"), ("floored", "ceiled"), ("leading_zeros", "trailing_zeros"),
)  # fmt: skip


def planted(program: Program, random: Random) -> Program:
    """Return the program with one operator exchanged; the program itself if it has none of those."""
    found = [pair for old in all_expressions(program.outer + program.body) if (pair := _swapped(old)) is not None]
    if not found:
        return program
    old, new = random.choice(found)
    edit = Edit(nodes={}, expressions={id(old): new})
    return replace(program, outer=edit.of(program.outer), body=edit.of(program.body))


def _swapped(old: Expression) -> tuple[Expression, Expression] | None:
    for before, after in SWAPS:
        if before in old.format:
            return old, replace(old, format=old.format.replace(before, after, 1))
    return None
