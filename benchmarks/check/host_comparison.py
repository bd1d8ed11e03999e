"""Compare what a kernel left in its arrays in the interpreter with what it left in them on the host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from benchmarks.check.host_program import HostRun
from expctl.check.case import Argument, Case, Limit, Role
from expctl.check.dtypes import Dtype, bits_of, values_of
from expctl.check.runner import Trial


class Answer(StrEnum):
    """What a comparison found, from the best to the worst. ANY_ORDER: an array that depends on the order of threads on the host
    too has the same elements in another order.
    """

    EQUAL = "bit-equal"
    ANY_ORDER = "bit-equal but for the order of elements"
    ROUNDING = "within rounding"
    DIFFERENT = "different"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """An answer, and the reason for it; "" for EQUAL."""

    answer: Answer
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRuns:
    """Three runs of one launch: forward, backward, and forward with other bytes in the `out` arrays before."""

    forward: HostRun
    backward: HostRun
    refilled: HostRun


def compared(case: Case, found: Trial, host: HostRuns, reasons: Sequence[str]) -> Compared:
    """Return the worst answer of all arrays that the kernel writes. Floats may differ by the limit of the launch description
    where there are `reasons` for it: functions that a machine rounds in its own way, contraction.
    """
    outputs = [each for each in case.arguments if each.is_array and each.role is not Role.IN]
    answers = [_compared(each, case.limit_of(each), found, host, reasons) for each in outputs]
    return max(answers, key=lambda each: list(Answer).index(each.answer), default=Compared(answer=Answer.EQUAL))


def _compared(argument: Argument, limit: Limit, found: Trial, host: HostRuns, reasons: Sequence[str]) -> Compared:
    name, dtype = argument.name, argument.dtype
    here, backward, refilled = (each.arrays[name] for each in (host.forward, host.backward, host.refilled))
    written = _same(here, refilled, dtype)
    if argument.role is Role.OUT and (misses := written != found.written[name]).any():
        by = "the host" if written[_first(misses)] else "the interpreter"
        return Compared(answer=Answer.DIFFERENT, why=f"{_element(name, _first(misses))} is written by {by} alone")
    there = np.where(written, bits_of(found.outputs[name], dtype), here)
    same, is_ordered = _same(here, there, dtype), bool((_same(here, backward, dtype) | ~written).all())
    if same.all():
        return Compared(answer=Answer.EQUAL)
    if not is_ordered and (np.sort(_integers(here), None) == np.sort(_integers(there), None)).all():
        return Compared(answer=Answer.ANY_ORDER, why=name)
    causes = [*reasons, *([] if is_ordered else ["the order of threads"])]
    if causes and dtype.is_float and _near(there, here, dtype, limit).all():
        return Compared(answer=Answer.ROUNDING, why=f"{_worst(name, there, here, dtype)}; {', '.join(causes)}")
    return Compared(
        answer=Answer.DIFFERENT, why=f"{_both(name, _first(~same), there, here, dtype)}; {(~same).sum()} of {same.size}"
    )


def _same(one: Any, two: Any, dtype: Dtype) -> Any:
    """Return where two arrays of stored elements have the same bits, or both a NaN."""
    equal = _integers(one) == _integers(two)
    return equal | (_is_nan(one, dtype) & _is_nan(two, dtype)) if dtype.is_float else equal


def _is_nan(bits: Any, dtype: Dtype) -> Any:
    return np.isnan(values_of(bits, dtype))


def _near(one: Any, two: Any, dtype: Dtype, limit: Limit) -> Any:
    a, b = (values_of(each, dtype).astype(float) for each in (one, two))
    with np.errstate(invalid="ignore"):
        return _same(one, two, dtype) | (np.abs(a - b) <= limit.abs + limit.rel * np.abs(b))


def _integers(bits: Any) -> Any:
    """Return stored elements as unsigned integers."""
    return np.ascontiguousarray(bits).view(f"u{bits.itemsize}")


def _steps(one: Any, two: Any) -> Any:
    """Return how many floats lie between the stored floats of two arrays, as doubles."""
    places = []
    for bits in (one, two):
        sign = 1 << 8 * bits.itemsize - 1
        integers = _integers(bits)
        places.append(np.where(integers >= sign, -(integers - float(sign)), integers.astype(float)))
    return np.abs(places[0] - places[1])


def _worst(name: str, there: Any, here: Any, dtype: Dtype) -> str:
    steps = _steps(there, here)
    index = np.unravel_index(int(steps.argmax()), steps.shape)
    a, b = (values_of(each, dtype).astype(float) for each in (there, here))
    most = float(np.nanmax(np.abs(a - b)) / np.nanmax(np.abs(b)))
    return f"at most {steps[index]:.0f} ulp, {_both(name, index, there, here, dtype)}, and {most:.1g} of the largest element"


def _both(name: str, index: tuple[Any, ...], there: Any, here: Any, dtype: Dtype) -> str:
    a, b = (f"{values_of(each, dtype)[index]:.{dtype.digits}g}" if dtype.is_float else each[index] for each in (there, here))
    return f"{_element(name, index)} is {a} in the interpreter and {b} on the host"


def _element(name: str, index: tuple[Any, ...]) -> str:
    return f"{name}[{', '.join(str(int(each)) for each in index)}]"


def _first(flags: Any) -> tuple[Any, ...]:
    return np.unravel_index(int(flags.argmax()), flags.shape)
