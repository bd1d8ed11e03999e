"""A launch description at given shapes: every expression as a number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, prod

from expctl.check.case import Argument, Case, values_of_scalar
from expctl.check.expression import BadExpression, Number, evaluate, whole

Extent = tuple[int, int, int]
Scalar = Number | tuple[Number, ...]
"""What is passed by value: a number, or those of a vector or an array in a struct."""
Problem = tuple[str, str]
"""(path of the value in the description, what is wrong with it)."""
BYTES_MAX = 1 << 28
"""All arrays of a launch. The interpreter needs some four times as much memory."""


class BadShapes(Exception):
    """The description can't be launched at these shapes. `problems` says why."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(text for _, text in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One launch: its shapes, grid in workgroups, block in threads, and the numbers of all arguments by name."""

    shapes: dict[str, int]
    grid: Extent
    block: Extent
    dynamic_lds: int
    extents: dict[str, tuple[int, ...]]
    """Arrays: the number of elements on each axis."""
    scalars: dict[str, Scalar]


def resolve(case: Case, shapes: Mapping[str, int]) -> Launch:
    """Return the launch of `case` at `shapes`, which has a value for each of its shapes. Raises BadShapes."""
    problems: list[Problem] = []

    def number(path: str, expression: int | str, least: int) -> int:
        try:
            found = whole(expression, shapes)
        except BadExpression as error:
            problems.append((path, str(error)))
            return least
        if found < least:
            told = found if str(expression) == str(found) else f"{expression} is {found}"
            problems.append((path, f"{told}, expected at least {least}"))
        return max(found, least)

    def scalar(path: str, argument: Argument) -> Scalar:
        found = tuple(element(path, expression, argument) for expression in values_of_scalar(argument))
        return found if isinstance(argument.value, list) else found[0]

    def element(path: str, expression: Number | str, argument: Argument) -> Number:
        try:
            found = evaluate(expression, shapes)
        except BadExpression as error:
            problems.append((path, str(error)))
            return 0
        if not _fits(found, argument):
            problems.append((path, f"{found} is no {argument.dtype}"))
        return found

    placed = list(zip(case.paths, case.arguments, strict=True))
    launch = Launch(
        shapes=dict(shapes),
        grid=_extent([number(f"grid[{i}]", entry, 1) for i, entry in enumerate(case.grid)]),
        block=_extent([number(f"block[{i}]", entry, 1) for i, entry in enumerate(case.block)]),
        dynamic_lds=number("dynamic_lds", case.dynamic_lds, 0),
        extents={
            each.name: tuple(number(f"{path}.shape[{axis}]", size, 0) for axis, size in enumerate(each.shape or ()))
            for path, each in placed
            if each.is_array
        },
        scalars={each.name: scalar(f"{path}.value", each) for path, each in placed if not each.is_array},
    )
    problems += [*_too_large(case, launch), *_bad_ranges(placed, launch)]
    if problems:
        named = ", ".join(f"{name} = {value}" for name, value in shapes.items())
        raise BadShapes([(path, f"{text}{f', at {named}' if named else ''}") for path, text in problems])
    return launch


def _extent(entries: list[int]) -> Extent:
    x, y, z = (*entries, 1, 1)[:3]
    return x, y, z


def _fits(value: Number, argument: Argument) -> bool:
    if argument.dtype.is_float:
        return True
    bits = 8 * argument.dtype.stored.itemsize
    least = -(1 << bits - 1) if argument.dtype.startswith("i") else 0
    return least <= value < least + (1 << bits)


def _bad_ranges(placed: list[tuple[str, Argument]], launch: Launch) -> Iterator[Problem]:
    """Yield what is wrong with the ranges from which the values of arrays are drawn, but for arrays without elements."""
    for path, argument in placed:
        if (ends := argument.uniform) is None or not prod(launch.extents[argument.name]):
            continue
        try:
            low, high = evaluate(ends.low, launch.shapes), evaluate(ends.high, launch.shapes)
        except BadExpression as error:
            yield f"{path}.values", str(error)
            continue
        if not 0 <= high - low < inf:
            yield f"{path}.values", f"expected the smaller end first, found low {low} and high {high}"
        yield from ((f"{path}.values", f"{end} is no {argument.dtype}") for end in (low, high) if not _fits(end, argument))


def _too_large(case: Case, launch: Launch) -> Iterator[Problem]:
    arrays = [each for each in case.arguments if each.is_array]
    extents = [
        [max(extent, 1) for extent in launch.extents[each.name]] for each in arrays
    ]  # numpy takes none too large beside 0
    sizes = [prod(shape) * each.dtype.stored.itemsize for shape, each in zip(extents, arrays, strict=True)]
    if sum(sizes) > BYTES_MAX:
        yield "arguments", f"{sum(sizes)} bytes of arrays, the most are {BYTES_MAX}"
