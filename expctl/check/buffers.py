"""The numpy arrays and scalars with which a kernel is launched, drawn from a seed."""

from __future__ import annotations

from math import prod

import numpy as np

from expctl.check.case import Argument, Case, Role, Uniform
from expctl.check.dtypes import Dtype, bits_of
from expctl.check.expression import evaluate
from expctl.check.resolved import Launch
from expctl.gfx11.arguments import Packed, Unwritten, Value
from expctl.gfx11.machine.arrays import Anything

Values = dict[str, Value]


def values_for(case: Case, launch: Launch, seed: int) -> Values:
    """Return a value for each argument of a launch, in the kernel's order: arrays in the types that the kernel sees, `out`
    arrays undefined. The same seed and shapes give the same values.
    """
    return {each.name: _value(each, launch, np.random.default_rng((seed, i))) for i, each in enumerate(case.arguments)}


def _value(argument: Argument, launch: Launch, random: np.random.Generator) -> Value:
    if not argument.is_array:
        return _scalar(argument, launch)
    extents = launch.extents[argument.name]
    if argument.role is Role.OUT:
        return Unwritten(shape=extents, dtype=argument.dtype.stored.str)
    flat = _elements(argument, prod(extents), launch.shapes, random)
    return bits_of(flat, argument.dtype).reshape(extents)


def _scalar(argument: Argument, launch: Launch) -> Value:
    numbers = launch.scalars[argument.name]
    if isinstance(numbers, tuple):
        return Packed(raw=bits_of(np.array(numbers), argument.dtype).tobytes())
    bits = bits_of(np.array([numbers]), argument.dtype)[0]
    return bits if argument.dtype.is_float and argument.dtype is not Dtype.BF16 else int(bits)


def _elements(argument: Argument, count: int, shapes: dict[str, int], random: np.random.Generator) -> Anything:
    """Return `count` numbers as the description of an array says."""
    if count == 0:
        return np.zeros(0)
    if (ends := argument.uniform) is not None:
        return _drawn(argument, ends, count, shapes, random)
    if not isinstance(argument.values, str):
        return np.resize(np.asarray(argument.values).reshape(-1), count)
    if argument.values == "zeros":
        return np.zeros(count)
    if argument.dtype.is_float:
        return random.standard_normal(count)
    whole_range = np.iinfo(argument.dtype.stored)
    return random.integers(whole_range.min, whole_range.max, count, dtype=argument.dtype.stored, endpoint=True)


def _drawn(argument: Argument, ends: Uniform, count: int, shapes: dict[str, int], random: np.random.Generator) -> Anything:
    low, high = evaluate(ends.low, shapes), evaluate(ends.high, shapes)
    if argument.dtype.is_float:
        return random.uniform(low, high, count)
    return random.integers(int(low), int(high), count, dtype=argument.dtype.stored, endpoint=True)
