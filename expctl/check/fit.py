"""Does a launch description fit the kernel that it is for? Every argument is held to the kernel's parameter."""

from __future__ import annotations

from collections.abc import Iterator

from expctl.check.case import Argument, Case, values_of_scalar
from expctl.check.kernel_file import Parameter, Signature
from expctl.check.proposal import element_of
from expctl.check.struct_layout import misplaced


def misfits(case: Case, kernel: Signature) -> Iterator[tuple[str, str]]:
    """Yield (path in the description, what is wrong) for each argument that the kernel doesn't take."""
    if len(case.groups) != len(kernel.parameters):
        yield "arguments", f"{len(case.groups)}, but the kernel takes {len(kernel.parameters)}: {kernel.cpp_name}"
        return
    for i, ((struct, group), parameter) in enumerate(zip(case.groups, kernel.parameters, strict=True)):
        if problem := misplaced(group, parameter) if struct else _misfit(group[0], parameter):
            yield f"arguments[{i}]", f"{struct or group[0].name} is {problem}"


def guessed(case: Case, kernel: Signature) -> Iterator[str]:
    """Yield a sentence for each number of which nothing says whether the kernel takes it as a whole number or as a float, for
    each array whose elements the kernel takes as others, for packed ones may be meant, and for each argument that has the name
    of another parameter: they may be exchanged.
    """
    names = [each.name for each in kernel.parameters]
    for i, ((struct, group), parameter) in enumerate(zip(case.groups, kernel.parameters, strict=True), 1):
        name = struct or group[0].name
        if parameter.name and name != parameter.name and name in names:
            yield f"argument {i} is called {name} here and {parameter.name} in the kernel"
        if not (struct or parameter.is_pointer or parameter.type or parameter.members):
            yield f"{group[0].name} is passed as {group[0].dtype}: the file doesn't say what the kernel takes"
        elif not struct and parameter.is_pointer and _has_other_elements(group[0], parameter):
            yield f"{group[0].name} is an array of {group[0].dtype}, but the parameter ({parameter.type}) points to others"


def _has_other_elements(argument: Argument, parameter: Parameter) -> bool:
    """Is the type known of what a parameter points to, and other than the array's? Bytes may stand for anything."""
    element, given = element_of(parameter), argument.dtype
    size = element.dtype.stored.itemsize
    return element.is_known and size > 1 and (size, element.dtype.is_float) != (given.stored.itemsize, given.is_float)


def _contradicts(argument: Argument, parameter: Parameter) -> bool:
    """Does a parameter point to single floats, and others than the array's? Vectors and integers may hold anything."""
    element = element_of(parameter)
    return element.is_known and element.dtype.is_float and element.count == 1 and element.dtype is not argument.dtype


def _misfit(argument: Argument, parameter: Parameter) -> str:
    what = f" ({parameter.type})" if parameter.type else ""
    if argument.is_array and parameter.is_pointer:
        others = f"an array of {argument.dtype}, but the parameter{what} points to others"
        return others if _contradicts(argument, parameter) else ""
    if argument.is_array:
        return f"an array, but parameter{what} takes a number of {parameter.size} bytes"
    if parameter.is_pointer:
        return f"a number, but the parameter{what} is a pointer: give it a shape instead of a value"
    size = argument.dtype.stored.itemsize * len(values_of_scalar(argument))
    if size != parameter.size:
        several = ": give it fields, or a list of values" if parameter.members else ""
        return f"{argument.dtype}, which has {size} bytes, but the parameter{what} has {parameter.size}{several}"
    element = element_of(parameter)
    if element.is_known and element.dtype.is_float != argument.dtype.is_float:
        return f"{argument.dtype}, but the parameter{what} is {element.dtype}"
    return ""
