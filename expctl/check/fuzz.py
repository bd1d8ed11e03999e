"""Draw shapes around the places where kernels go wrong, and shrink a shape that shows a fault."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import partial
from math import prod

from expctl.check.case import Case
from expctl.check.expression import BadExpression, numbers_in, whole

Shapes = dict[str, int]
WAVE = 32
MULTIPLES = 4
NEAR_A_BOUNDARY = 0.8
"""Share of drawn extents that lie at a boundary; the others are anywhere in the range."""
TRIES_MOST = 20
"""Tries for each shape that is wanted, for drawn shapes may be equal."""
LAUNCHES_MOST = 60
"""Most shapes that shrinking tries."""


def boundaries(case: Case, name: str) -> list[int]:
    """Return, in order, the extents in the range of shape `name` at which a kernel may do something else: the ends, the wave,
    multiples of the block and of every number in an expression, powers of two, and one less and one more than each.
    """
    least, most = case.vary[name]
    steps = {WAVE, *_block(case)} | {
        number for each in (*case.grid, case.dynamic_lds, *_extents(case)) for number in numbers_in(each) if number > 1
    }
    middles = {1 << power for power in range(most.bit_length())} | {
        step * times for step in steps for times in range(1, MULTIPLES + 1)
    }
    near = {least, least + 1, most - 1, most} | {middle + by for middle in middles for by in (-1, 0, 1)}
    return sorted(extent for extent in near if least <= extent <= most)


def drawn_shapes(case: Case, count: int, seed: int) -> list[Shapes]:
    """Return at most `count` different shapes, drawn from `seed` in the ranges of `vary`; other shapes are as they are."""
    choose = random.Random(seed)  # noqa: S311  shapes, not secrets
    likely = {name: boundaries(case, name) for name in case.vary}
    found: list[Shapes] = []
    for _ in range(TRIES_MOST * count if case.vary else 0):
        drawn = {
            name: choose.choice(likely[name]) if choose.random() < NEAR_A_BOUNDARY else choose.randint(*ends)
            for name, ends in case.vary.items()
        }
        shapes = {**case.shapes, **drawn}
        if shapes not in (case.shapes, *found) and len(found) < count:
            found.append(shapes)
    return found


def shrunk(shapes: Shapes, ranges: Mapping[str, tuple[int, int]], shows: Callable[[Shapes], bool]) -> Shapes:
    """Return shapes that `shows` accepts and of which no extent could be made smaller, as far as LAUNCHES_MOST tries tell.

    Each extent in turn grows from the least one of its range in steps that double, up to the first that shows the fault; then
    the last step is halved. `shapes` itself is known to show it.
    """
    known: dict[tuple[int, ...], bool] = {}

    def shows_at(name: str, extent: int) -> bool:
        tried = {**best, name: extent}
        key = tuple(tried.values())
        if key not in known:
            known[key] = len(known) < LAUNCHES_MOST and shows(tried)
        return known[key]

    best = dict(shapes)
    before: Shapes = {}
    while best != before:
        before = dict(best)
        for name, (least, _) in ranges.items():
            best[name] = _least(least, best[name], partial(shows_at, name))
    return best


def _least(least: int, most: int, shows: Callable[[int], bool]) -> int:
    """Return the smallest number from `least` to `most` that `shows` accepts, if it accepts all from some number on."""
    below, step = least - 1, 1
    while below + step < most and not shows(below + step):
        below, step = below + step, 2 * step
    above = min(below + step, most)
    while above - below > 1:
        middle = (above + below) // 2
        below, above = (below, middle) if shows(middle) else (middle, above)
    return above


def _block(case: Case) -> list[int]:
    """Return the threads of the block on each axis, and all of them."""
    try:
        sides = [whole(entry, case.shapes) for entry in case.block]
    except BadExpression:
        return []
    return [number for number in (*sides, prod(sides)) if number > 1]


def _extents(case: Case) -> list[int | str]:
    return [extent for each in case.arguments for extent in each.shape or ()]
