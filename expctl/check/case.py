"""The launch description of a kernel: its arguments, shapes, grid and block, as a file or a dict gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from math import inf
from typing import Any

import numpy as np
from msgspec import Struct, ValidationError, convert, field

from expctl.check.dtypes import LIMITS, Dtype, is_numeric, unfitting
from expctl.check.expression import BadExpression, Number, evaluate, whole
from expctl.check.nested_fields import entry_problems, flattened
from expctl.check.validation_words import listed, plain, problem_of
from expctl.domain.errors import Refused
from expctl.domain.text import one_line

Reference = Callable[[dict[str, Any], dict[str, int]], Mapping[str, Any]]
"""(arrays by name as they are before the launch, shapes) -> expected arrays by name."""
AXES_MOST = 3
EXTENTS_MOST = 32
_NAME = re.compile(r"[A-Za-z_]\w*")


class Role(StrEnum):
    """What a kernel does with an array. One that it only reads is `in`, and has to be unchanged after the launch."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"


_CHOICES = {"dtype": [*Dtype], "role": [*Role]}


class Uniform(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Values drawn evenly from `low` to `high`, which is included for integers."""

    low: int | float | str
    high: int | float | str


class Limit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far an element may be from the expected one: `abs` + `rel` * |expected|."""

    rel: float = 0.0
    abs: float = 0.0


class Argument(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One argument of a kernel, or field of a struct: an array if it has a `shape`, else a number or several, its `value`.

    A field's name is that of its struct, a dot, and its own; `offset` is its place in bytes, where nothing else tells it.
    """

    name: str
    dtype: Dtype
    shape: tuple[int | str, ...] | None = None
    role: Role = Role.IN
    values: Any = "random"
    """For an array: `random`, `zeros`, a mapping with `low` and `high`, or numbers that are repeated to fill it."""
    value: int | float | str | list[int | float | str] | None = None
    offset: int | None = None

    @property
    def is_array(self) -> bool:
        """Return whether the argument is an array."""
        return self.shape is not None

    @property
    def uniform(self) -> Uniform | None:
        """Return the range from which the values are drawn, None if `values` is something else."""
        return convert(self.values, Uniform) if isinstance(self.values, dict) else None


class Case(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A launch description. `vary` gives the range in which a shape may be drawn; `dynamic_lds` is in bytes. Fields of a struct
    stand in its place among the arguments.
    """

    grid: tuple[int | str, ...]
    block: tuple[int | str, ...]
    arguments: tuple[Argument, ...]
    kernel: str = ""
    shapes: dict[str, int] = field(default_factory=dict)
    vary: dict[str, tuple[int, int]] = field(default_factory=dict)
    dynamic_lds: int | str = 0
    limits: dict[str, Limit] = field(default_factory=dict)

    @property
    def paths(self) -> tuple[str, ...]:
        """Return where the description has each argument: `arguments[0]`, or `arguments[1].fields[0]` for a field."""
        return tuple(
            f"arguments[{i}].fields[{j}]" if name else f"arguments[{i}]"
            for i, (name, group) in enumerate(self.groups)
            for j in range(len(group))
        )

    @property
    def groups(self) -> tuple[tuple[str, tuple[Argument, ...]], ...]:
        """Return (name, its fields) for each struct, ("", the argument) for each other argument, in their order."""
        found: list[tuple[str, tuple[Argument, ...]]] = []
        for each in self.arguments:
            struct = each.name.rpartition(".")[0]
            if struct and found and found[-1][0] == struct:
                found[-1] = (struct, (*found[-1][1], each))
            else:
                found.append((struct, (each,)))
        return tuple(found)

    def limit_of(self, argument: Argument) -> Limit:
        """Return how far the elements of an array may be from the expected ones."""
        rel, most = LIMITS.get(argument.dtype, (0.0, 0.0))
        return self.limits.get(argument.name, Limit(rel=rel, abs=most))


_FIELDS = {
    "": Case.__struct_fields__,
    "arguments": (*Argument.__struct_fields__, "fields"),
    "limits": Limit.__struct_fields__,
}


def values_of_scalar(argument: Argument) -> tuple[Number | str, ...]:
    """Return the numbers or expressions of an argument that is no array."""
    if argument.value is None:
        return ()
    return tuple(argument.value) if isinstance(argument.value, list) else (argument.value,)


Line = Callable[[str], int]
"""Path of a value, such as `arguments[0].shape`, -> its line in the file, 0 if it isn't known."""


def unknown_line(path: str) -> int:  # noqa: ARG001  the signature of a Line
    """Return 0: the line of a value in a description that is no file."""
    return 0


def case_of(raw: object, where: str, line: Line = unknown_line) -> Case:
    """Return plain data as a Case. A numpy scalar counts as its number, a lone number as a list of one where a list is needed.
    Raises Refused with all problems, and with the line of each; `where` names the file.
    """
    if not isinstance(raw, Mapping):
        found = "nothing" if raw is None else f"a {type(raw).__name__}"
        raise refusal([("", f"expected a mapping with grid, block and arguments, found {found}")], where)
    description: Mapping[str, Any] = listed(plain(raw), "grid", "block")
    flat, paths = flattened(description)
    if paths:
        flat["arguments"] = [listed(each, "shape") for each in flat["arguments"]]
    if problems := list(entry_problems(description)):
        raise refusal(problems, where, line)
    try:
        case = convert(flat, Case)
    except ValidationError as error:
        raise refusal([problem_of(str(error), paths, _CHOICES, _FIELDS)], where, line) from None
    if problems := list(_problems(case)):
        raise refusal(problems, where, line)
    return case


def refusal(problems: list[tuple[str, str]], where: str, line: Line = unknown_line) -> Refused:
    """Return the error, not raised, for a launch description with `problems`: pairs of a value's path and what is wrong."""

    def place(path: str) -> str:
        number = line(path)
        return f"{path or 'the description'}{f' (line {number})' if number else ''}"

    return Refused(
        f"the launch description has {len(problems)} problem{'s' if len(problems) > 1 else ''}",
        code="case-has-problems",
        expected="the form that docs/CHECK.md shows",
        found="\n".join(one_line(f"{place(path)}: {text}") for path, text in problems),
        where=where,
        hint="edit it; expctl check FILE without --launch prints a description to begin with",
    )


def _problems(case: Case) -> Iterator[tuple[str, str]]:
    for name in case.shapes:
        if not _NAME.fullmatch(name):
            yield f"shapes.{name}", "a shape's name has letters, digits and _"
    for key, entries in (("grid", case.grid), ("block", case.block)):
        if not 1 <= len(entries) <= AXES_MOST:
            yield key, f"expected 1 to {AXES_MOST} entries, found {len(entries)}"
        for i, entry in enumerate(entries):
            yield from _arithmetic(f"{key}[{i}]", entry, case)
    yield from _arithmetic("dynamic_lds", case.dynamic_lds, case)
    for name, (least, most) in case.vary.items():
        if name not in case.shapes:
            yield f"vary.{name}", f"{name} is none of the shapes ({', '.join(case.shapes) or 'there are none'})"
        elif least > most:
            yield f"vary.{name}", f"expected the smaller end first, found {least} and {most}"
    for path, argument in zip(case.paths, case.arguments, strict=True):
        yield from _argument_problems(path, argument, case)
    names = [argument.name for argument in case.arguments]
    twice = ((path, name) for i, (path, name) in enumerate(zip(case.paths, names, strict=True)) if name in names[:i])
    yield from ((f"{path}.name", f"two arguments are called {name}") for path, name in twice)
    outputs = [each.name for each in case.arguments if each.is_array and each.role is not Role.IN]
    for name in case.limits.keys() - set(outputs):
        yield f"limits.{name}", f"{name} is no array with the role out or inout"
    for name, limit in case.limits.items():
        if not (0 <= limit.rel < inf and 0 <= limit.abs < inf):
            yield f"limits.{name}", f"expected numbers from 0 on, found rel {limit.rel:g} and abs {limit.abs:g}"


def _argument_problems(path: str, argument: Argument, case: Case) -> Iterator[tuple[str, str]]:
    if not _NAME.fullmatch(argument.name.rpartition(".")[2]):
        yield f"{path}.name", "a name has letters, digits and _"
    if argument.is_array == (argument.value is not None):
        yield path, "expected shape for an array, or value for a scalar; found " + ("both" if argument.is_array else "neither")
    if len(argument.shape or ()) > EXTENTS_MOST:
        yield f"{path}.shape", f"expected at most {EXTENTS_MOST} extents, found {len(argument.shape or ())}"
    for i, extent in enumerate(argument.shape or ()):
        yield from _arithmetic(f"{path}.shape[{i}]", extent, case)
    for expression in values_of_scalar(argument):
        yield from _arithmetic(f"{path}.value", expression, case, is_whole=not argument.dtype.is_float)
    if argument.value is not None and argument.role is not Role.IN:
        yield f"{path}.role", "a scalar is passed by value, so that it can only be in"
    if argument.offset is not None and "." not in argument.name:
        yield f"{path}.offset", "only a field of a struct has an offset"
    if argument.is_array:
        yield from _values_problems(f"{path}.values", argument, case)


def _values_problems(path: str, argument: Argument, case: Case) -> Iterator[tuple[str, str]]:
    values = argument.values
    if argument.role is Role.OUT and not (isinstance(values, str) and values == "random"):
        yield path, "an array with the role out begins undefined: take values out, or make it inout"
    elif isinstance(values, dict):
        try:
            ends = convert(values, Uniform)
        except ValidationError as error:
            yield path, f"expected a mapping of low and high: {error}"
            return
        for key, end in (("low", ends.low), ("high", ends.high)):
            yield from _arithmetic(f"{path}.{key}", end, case, is_whole=not argument.dtype.is_float)
    elif isinstance(values, list | tuple) and not (values and all(isinstance(each, int | float) for each in values)):
        yield path, "expected a list of numbers, with at least one"
    elif isinstance(values, list | tuple) or hasattr(values, "__array__"):
        numbers = np.asarray(values)
        wrong = unfitting(numbers, argument.dtype) if is_numeric(numbers) else f"an element of type {numbers.dtype}"
        if wrong:
            yield path, f"{wrong} is no {argument.dtype}"
    elif values not in ("random", "zeros"):
        yield path, f"expected random, zeros, a mapping of low and high, or a list; found {values!r}"


def _arithmetic(path: str, expression: Number | str, case: Case, *, is_whole: bool = True) -> Iterator[tuple[str, str]]:
    try:
        (whole if is_whole else evaluate)(expression, case.shapes)
    except BadExpression as error:
        yield path, str(error)
