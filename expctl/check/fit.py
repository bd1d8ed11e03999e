"""Does a launch description fit the kernel that it is for? Every argument is held to the kernel's parameter."""

from __future__ import annotations

from collections.abc import Iterator

from expctl.check.case import Argument, Case
from expctl.check.kernel_file import Parameter, Signature
from expctl.check.proposal import element_of


def misfits(case: Case, kernel: Signature) -> Iterator[tuple[str, str]]:
    """Yield (path in the description, what is wrong) for each argument that the kernel doesn't take."""
    if len(case.arguments) != len(kernel.parameters):
        yield "arguments", f"{len(case.arguments)}, but the kernel takes {len(kernel.parameters)}: {kernel.cpp_name}"
        return
    for i, (argument, parameter) in enumerate(zip(case.arguments, kernel.parameters, strict=True)):
        if problem := _misfit(argument, parameter):
            yield f"arguments[{i}]", f"{argument.name} is {problem}"


def _misfit(argument: Argument, parameter: Parameter) -> str:
    what = f" ({parameter.type})" if parameter.type else ""
    if argument.is_array:
        return "" if parameter.is_pointer else f"an array, but parameter{what} takes a number of {parameter.size} bytes"
    if parameter.is_pointer:
        return f"a number, but the parameter{what} is a pointer: give it a shape instead of a value"
    size = argument.dtype.stored.itemsize
    if size != parameter.size:
        return f"{argument.dtype}, which has {size} bytes, but the parameter{what} has {parameter.size}"
    element = element_of(parameter)
    if element.is_known and element.count == 1 and element.dtype.is_float != argument.dtype.is_float:
        return f"{argument.dtype}, but the parameter{what} is {element.dtype}"
    return ""
