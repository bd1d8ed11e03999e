"""Ask the reference of a description which outputs it expects, and check that they fit the kernel's."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from expctl.check.buffers import Values
from expctl.check.case import Role
from expctl.check.case_file import Description
from expctl.check.dtypes import is_numeric, values_of
from expctl.check.resolved import Launch
from expctl.domain.errors import Refused
from expctl.domain.text import plain_text


def expected_outputs(description: Description, values: Values, at: Launch) -> dict[str, Any]:
    """Return the arrays that the reference expects of a launch with `values`, by name; nothing without a reference. It gets
    copies of the arrays. Raises Refused if it fails or its arrays don't fit.
    """
    if description.reference is None:
        return {}
    arrays = {
        each.name: values_of(value, each.dtype)
        for each in description.case.arguments
        if isinstance(value := values[each.name], np.ndarray)
    }
    where = description.where
    found = description.reference(arrays, dict(at.shapes))
    if not isinstance(found, Mapping):
        raise _misfit("what the reference returns is no dict", "a dict from names to arrays", type(found).__name__, where)
    return {name: _fitting(description, name, _array(given), at) for name, given in found.items()}


def _array(given: Any) -> Any:
    """Return what a reference gives for an output as an array: one of a None for rows of different lengths."""
    try:
        return np.asarray(given)
    except ValueError:
        return np.asarray(None)


def _fitting(description: Description, name: str, given: Any, at: Launch) -> Any:
    outputs = {each.name for each in description.case.arguments if each.role is not Role.IN}
    wanted = at.extents.get(name) if name in outputs else None
    if wanted is None or not is_numeric(given) or given.size != prod(wanted) or (given.ndim > 1 and given.shape != wanted):
        flat = f", or all {prod(wanted)} in one axis" if wanted is not None and len(wanted) > 1 else ""
        raise _misfit(
            f"what the reference expects of {plain_text(str(name))} fits no output of the kernel",
            f"numbers of the shape {list(wanted)}{flat}" if wanted is not None else "the name of an array that is out or inout",
            f"an array of the shape {list(given.shape)}" if is_numeric(given) else "something other than an array of numbers",
            description.where,
        )
    return given.reshape(wanted)


def _misfit(message: str, expected: str, found: str, where: str) -> Refused:
    return Refused(
        message,
        code="reference-misfits",
        expected=expected,
        found=found,
        where=where,
        hint="return a dict from names of outputs to arrays of their shapes",
    )
