"""Lay the fields of a struct out in the bytes that a kernel takes for it, as clang does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from expctl.check.buffers import Values
from expctl.check.case import Argument, Case, values_of_scalar
from expctl.check.dtypes import bits_of
from expctl.check.kernel_file import Parameter, Signature
from expctl.check.proposal import element_of, field_name
from expctl.check.resolved import Launch
from expctl.gfx11.arguments import Buffer, Packed, Value

POINTER_BYTES = 8


def kernel_arguments(case: Case, kernel: Signature, launch: Launch, values: Values) -> dict[str, Value]:
    """Return the values of a launch by the name of the argument, in the kernel's order: those of fields as one struct."""
    found: dict[str, Value] = {}
    for (struct, group), parameter in zip(case.groups, kernel.parameters, strict=True):
        if struct:
            found[struct] = _packed(group, parameter, launch, values)
        else:
            found[group[0].name] = values[group[0].name]
    return found


def misplaced(group: tuple[Argument, ...], parameter: Parameter) -> str:
    """Return why the fields of a struct can't be laid out as the kernel takes it; "" if they can."""
    if parameter.is_pointer:
        return f"a struct, but the parameter ({parameter.type}) is a pointer: give it a shape instead of fields"
    if parameter.members:
        return "; ".join(_misnamed(group, parameter))
    end = max(at + _bytes(each) for at, each in zip(offsets(group, parameter), group, strict=True))
    size = -(-end // max(map(_alignment, group))) * max(map(_alignment, group))
    if size == parameter.size:
        return ""
    what = f" ({parameter.type})" if parameter.type else ""
    hint = "give all fields, with offset where one is aligned otherwise"
    return f"a struct of {size} bytes, but the parameter{what} has {parameter.size}: {hint}"


def offsets(group: tuple[Argument, ...], parameter: Parameter) -> list[int]:
    """Return the offset of each field in bytes: as the file tells, else as the description does, else as C places it."""
    known = {field_name(each.name): each.offset for each in parameter.members}
    found, end = [], 0
    for each in group:
        aligned = -(-end // _alignment(each)) * _alignment(each)
        at = known.get(_own_name(each), each.offset if each.offset is not None else aligned)
        found.append(at)
        end = at + _bytes(each)
    return found


def _packed(group: tuple[Argument, ...], parameter: Parameter, launch: Launch, values: Values) -> Packed:
    raw, pointers, buffers = bytearray(parameter.size), dict[int, str](), dict[str, Buffer]()
    for at, each in zip(offsets(group, parameter), group, strict=True):
        if each.is_array:
            pointers[at] = each.name
            buffers[each.name] = values[each.name]
        else:
            number = launch.scalars[each.name]
            raw[at : at + _bytes(each)] = bits_of(np.atleast_1d(np.array(number)), each.dtype).tobytes()
    return Packed(raw=bytes(raw), pointers=pointers, buffers=buffers)


def _misnamed(group: tuple[Argument, ...], parameter: Parameter) -> Iterator[str]:
    members = {field_name(each.name): each for each in parameter.members}
    given = [_own_name(each) for each in group]
    if sorted(given) != sorted(members):
        yield f"a struct with the fields {', '.join(given)}, but {parameter.type or 'the parameter'} has {', '.join(members)}"
        return
    for each in group:
        member = members[_own_name(each)]
        if each.is_array != member.is_pointer:
            kind = "pointer: give it a shape" if member.is_pointer else "number: give it a value"
            yield f"a struct whose field {_own_name(each)} ({member.type}) is a {kind}"
        elif _bytes(each) != member.size:
            yield f"a struct whose field {_own_name(each)} ({member.type}) has {member.size} bytes, not {_bytes(each)}"
        elif not each.is_array and (known := element_of(member)).is_known and known.dtype.is_float != each.dtype.is_float:
            yield f"a struct whose field {_own_name(each)} ({member.type}) is {known.dtype}, not {each.dtype}"


def _own_name(field: Argument) -> str:
    return field.name.rpartition(".")[2]


def _bytes(field: Argument) -> int:
    return POINTER_BYTES if field.is_array else field.dtype.stored.itemsize * len(values_of_scalar(field))


def _alignment(field: Argument) -> int:
    return POINTER_BYTES if field.is_array else field.dtype.stored.itemsize
