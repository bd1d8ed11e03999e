"""Loops of a function of LLVM IR that count: values that grow by the same amount each turn, and how many turns there are.

So a pointer that walks is known from an index that counts, and `k != 16` from `k < 13` where k grows by four.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from expctl.inspection.readers.llvm_flow import successors
from expctl.inspection.readers.llvm_sums import Sum, as_exact
from expctl.inspection.readers.llvm_text import NAME, Block, Instruction, split_list, text_type

STEPS_MOST = 8
_PAIR = re.compile(rf"\[ (.*?), %({NAME}) \]")
_CONSTANT = re.compile(r"-?\d+$")


class Counted(NamedTuple):
    """A phi of the block `head` that begins as `first` and is `following` after each turn: itself plus what no turn changes."""

    head: str
    first: str
    following: str


class Growing(NamedTuple):
    """What a comparison asks of a sum: is it 0 (`is_zero`), or at least 0?"""

    is_zero: bool
    sum: Sum


def counted_values(blocks: Sequence[Block], order: Mapping[str, int]) -> dict[str, Counted]:
    """Return the phis that grow by the same amount each turn, by name. `blocks` are in the reverse post-order `order`: those of
    a loop come after its head, so that what stands before the head doesn't change in it.
    """
    made = {each.result: (order[block.label], each) for block in blocks for each in block.body if each.result}
    found = {}
    for block in blocks:
        head = order[block.label]
        for each in block.body:
            pairs = _PAIR.findall(each.text) if each.text.startswith(("phi i32 ", "phi i64 ", "phi ptr ")) else []
            back = [pair for pair in pairs if order.get(pair[1], -1) >= head]
            firsts = {value for value, label in pairs if label != back[0][1]} if len(back) == 1 else set()
            if len(firsts) == 1 and _grows(each.result, back[0][0], head, made):
                found[each.result] = Counted(block.label, firsts.pop(), back[0][0])
    return found


class Access(NamedTuple):
    """What a loop reads, or writes (`is_store`), and where."""

    is_store: bool
    place: Sum


def loop_body(head: Block, blocks: Sequence[Block], order: Mapping[str, int]) -> tuple[Block, ...]:
    """Return the blocks of the loop that begins with `head`, if it has no loop in it and is left at its end alone; else ()."""
    before: dict[str, list[Block]] = {block.label: [] for block in blocks}
    for block in blocks:
        for label in successors(block):
            before[label].append(block)
    ends = [block for block in before[head.label] if order[block.label] >= order[head.label]]
    body, todo = {head.label: head}, ends[:]
    while todo:
        block = todo.pop()
        if block.label not in body:
            body[block.label] = block
            todo += before[block.label]
    stays = all(
        {*successors(block)} <= body.keys() and all(order[label] > order[block.label] for label in successors(block))
        for block in body.values()
        if block not in ends
    )
    return tuple(body.values()) if len(ends) == 1 and stays else ()


def last_turn(test: Growing, turn: str, *, leaves_if: bool) -> Sum | None:
    """Return the number of the last turn, from 0, of a loop that is left if the test at its end is `leaves_if`; None if that
    can't be told. It is taken as left at some time. `turn` is the term of its number in the sum.
    """
    count = turns(test, turn, leaves_if=leaves_if)
    if count is not None:
        return Sum(count)
    step = dict(test.sum.terms).get(turn, 0)
    rest = test.sum.plus(Sum(0, ((turn, step),)), -1)
    if not step or not rest.terms or _depends(rest, turn):
        return None
    if test.is_zero:
        return rest.times(Sum(as_exact(-1 / step))) if leaves_if else None
    if leaves_if:
        return Sum(0).plus(rest, -1) if step == 1 else None
    return rest.plus(Sum(1)) if step == -1 else None


def runs_backwards(accesses: Sequence[Access], turn: str) -> bool:
    """Does a loop go downwards through memory, each turn by itself, so that it may as well go upwards? Memory of different
    bases is different.
    """
    steps = [dict(each.place.terms).get(turn, 0) for each in accesses]
    if max(steps, default=0) > 0 or not min(steps, default=0) or any(_depends(each.place, turn, least=2) for each in accesses):
        return False
    if any(each.is_store and not step for each, step in zip(accesses, steps, strict=True)):
        return False
    gaps = (one.place.plus(two.place, -1) for one, two in combinations(accesses, 2) if one.is_store or two.is_store)
    return not any(gap.constant and not gap.terms for gap in gaps)


def _depends(of: Sum, turn: str, least: int = 1) -> bool:
    """Is the number of the turn in the terms of a sum, in products of at least so many factors?"""
    return any(turn in term.split("*") and term.count("*") + 1 >= least for term, _ in of.terms)


def turns(test: Growing, turn: str, *, leaves_if: bool) -> int | None:
    """Return in which turn, from 0, a loop is left that is left if the test at its end is `leaves_if`; None if that can't be
    told. `turn` is the term of its number in the sum.
    """
    if len(test.sum.terms) != 1 or test.sum.terms[0][0] != turn:
        return None
    start, step = test.sum.constant, test.sum.terms[0][1]
    if not isinstance(start, int) or not isinstance(step, int):
        return None
    if test.is_zero:
        if not leaves_if:
            return int(start == 0)
        return -start // step if start % step == 0 and start * step <= 0 else None
    if (start >= 0) == leaves_if:
        return 0
    if leaves_if:
        return -(start // step) if step > 0 else None
    return start // -step + 1 if step < 0 else None


def _grows(phi: str, value: str, head: int, made: Mapping[str, tuple[int, Instruction]]) -> bool:
    """Is `value` the phi plus what isn't computed in the loop?"""
    for _ in range(STEPS_MOST):
        if value == phi:
            return True
        if value not in made:
            return False
        text = made[value][1].text
        parts = _summands(text)
        inside = [part for part in parts if part in made and made[part][0] >= head]
        if len(inside) != 1 or (text.startswith("sub") and inside[0] != parts[0]):
            return False
        value = inside[0]
    return False


def _summands(text: str) -> list[str]:
    """Return the operands of a sum, or of an address that counts bytes or elements of one kind; empty for anything else."""
    if re.match(r"add |sub |or disjoint ", text):
        words = [word for word in text.split(" ") if word not in ("nuw", "nsw", "disjoint")]
        return [part.strip() for part in " ".join(words[2:]).split(",")]
    if text.startswith("getelementptr "):
        _, base, *indices = split_list(text.removeprefix("getelementptr "))
        parts = [each[len(text_type(each)) :].strip() for each in (base, *indices)]
        return parts if len(indices) == 1 or all(_CONSTANT.match(part) for part in parts[1:]) else []
    return []
