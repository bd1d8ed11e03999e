"""Compare arrays after a launch with what they were before, and with what is expected; say which element is wrong first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from expctl.check.buffers import Values
from expctl.check.case import Argument, Case, Limit, Role
from expctl.check.dtypes import values_of
from expctl.gfx11.launch import Interpretation
from expctl.gfx11.machine.arrays import Anything, Flags

INPUT_CHANGED, WRONG_RESULT = "input changed", "wrong result"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A wrong array: `kind` is INPUT_CHANGED or WRONG_RESULT, `what` names the first wrong element and counts the others."""

    kind: str
    array: str
    what: str


def changed_inputs(case: Case, before: Values, found: Interpretation) -> Iterator[Verdict]:
    """Yield a verdict for each array with the role `in` that has other bytes after the launch than before."""
    for argument in case.arguments:
        was = before[argument.name]
        if not argument.is_array or argument.role is not Role.IN or not isinstance(was, np.ndarray):
            continue
        after = found.outputs[argument.name]
        differs = after.view(f"u{after.itemsize}") != was.view(f"u{was.itemsize}")
        if differs.any():
            first, many = _first(differs)
            old, new = (_shown(values_of(each, argument.dtype)[first], argument) for each in (was, after))
            what = f"{_element(argument, first)} was {old} and is {new}, though its role is in; {many}"
            yield Verdict(kind=INPUT_CHANGED, array=argument.name, what=what)


def wrong_results(case: Case, expected: Mapping[str, Any], found: Interpretation) -> Iterator[Verdict]:
    """Yield a verdict for each array with elements that are not within its limit of the `expected` ones. A NaN equals a NaN."""
    for argument in case.arguments:
        if argument.name in expected:
            wanted = np.asarray(expected[argument.name])
            got = values_of(found.outputs[argument.name], argument.dtype)
            wrong = ~_is_near(got, wanted, case.limit_of(argument)) | ~found.written[argument.name]
            if wrong.any():
                what = _described(argument, wrong, wanted, got, found.written[argument.name])
                yield Verdict(kind=WRONG_RESULT, array=argument.name, what=what)


def unwritten_outputs(case: Case, found: Interpretation) -> Iterator[str]:
    """Yield a sentence for each `out` array of which the kernel left elements undefined."""
    for argument in case.arguments:
        if argument.is_array and argument.role is Role.OUT and not found.written[argument.name].all():
            first, many = _first(~found.written[argument.name])
            yield f"{_element(argument, first)} was never written; {many}"


def unexpected_outputs(case: Case, expected: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for the outputs of which a reference says nothing."""
    if names := [each.name for each in case.arguments if each.role is not Role.IN and each.name not in expected]:
        yield f"the reference says nothing of {', '.join(names)}"


def differing_orders(case: Case, expected: Mapping[str, Any], found: Sequence[Interpretation]) -> Iterator[str]:
    """Yield a sentence for each output that is not the same, within its limit, in all orders, but for `expected` ones."""
    for argument in case.arguments:
        if not argument.is_array or argument.role is Role.IN or argument.name in expected:
            continue
        first, *others = (values_of(each.outputs[argument.name], argument.dtype) for each in found)
        for other in others:
            differs = ~_is_near(other, first, case.limit_of(argument))
            if differs.any():
                index, many = _first(differs)
                one, two = (_shown(each[index], argument) for each in (first, other))
                yield f"{_element(argument, index)} depends on the order of waves: {one} and {two}; {many}"
                break


def _is_near(got: Anything, wanted: Anything, limit: Limit) -> Flags:
    if got.dtype.kind != "f" and limit == Limit():
        return np.asarray(got == wanted)
    with np.errstate(invalid="ignore", over="ignore"):  # a signalling NaN is invalid even in a conversion
        got, wanted = got.astype(float), wanted.astype(float)
        near = np.abs(got - wanted) <= limit.abs + limit.rel * np.abs(wanted)
    return np.asarray((near & np.isfinite(wanted)) | (got == wanted) | (np.isnan(got) & np.isnan(wanted)))


def _described(argument: Argument, wrong: Flags, wanted: Anything, got: Anything, written: Flags) -> str:
    first, many = _first(wrong)
    name, right = _element(argument, first), _shown(wanted[first], argument)
    if not written[first]:
        return f"{name} was never written, expected {right}; {many}"
    return f"{name} is {_shown(got[first], argument)}, expected {right}; {many}"


def _first(flags: Flags) -> tuple[tuple[int, ...], str]:
    """Return the index of the first set flag, and how many are set in words."""
    index = np.unravel_index(int(flags.argmax()), flags.shape)
    count = int(flags.sum())
    return tuple(map(int, index)), f"{count} of {flags.size} elements {'is' if count == 1 else 'are'} so"


def _element(argument: Argument, index: tuple[int, ...]) -> str:
    return f"{argument.name}[{', '.join(map(str, index))}]"


def _shown(value: Any, argument: Argument) -> str:
    return f"{float(value):.{argument.dtype.digits}g}" if argument.dtype.is_float else str(int(value))
