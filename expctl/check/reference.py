"""Ask the reference of a description which outputs it expects, and check that they fit the kernel's."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from expctl.check.buffers import Values
from expctl.check.case import Reference, Role
from expctl.check.case_file import Description, failed
from expctl.check.dtypes import values_of
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
    found = _called(description.reference, description, arrays, dict(at.shapes))
    return {name: _fitting(description, name, array, at) for name, array in found.items()}


def _called(
    reference: Reference, description: Description, arrays: dict[str, Any], shapes: dict[str, int]
) -> Mapping[str, Any]:
    if description.path is None:
        return reference(arrays, shapes)
    try:
        return dict(reference(arrays, shapes))
    except Exception as error:
        raise failed(error, description.path, description.where) from error


def _fitting(description: Description, name: str, array: Any, at: Launch) -> Any:
    outputs = {each.name for each in description.case.arguments if each.role is not Role.IN}
    wanted = at.extents.get(name) if name in outputs else None
    given = np.asarray(array)
    if wanted is None or given.size != prod(wanted):
        raise Refused(
            f"what the reference expects of {plain_text(str(name))} fits no output of the kernel",
            code="reference-misfits",
            expected=f"{list(wanted)} elements" if wanted is not None else "the name of an array that is out or inout",
            found=f"an array of {list(given.shape)}",
            where=description.where,
            hint="return a dict from names of outputs to arrays of their shapes",
        )
    return given.reshape(wanted)
