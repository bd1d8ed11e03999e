"""Which variable lies where in LDS: read from what LLVM prints before and after it puts them into one structure for a kernel.

The pass is amdgpu-lower-module-lds. It replaces `@tile` by a member of `@llvm.amdgcn.kernel.NAME.lds`, mention by mention, so
that the two texts tell which member is which variable. Metadata give the address of the structure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from expctl.inspection.readers.llvm_module import Surroundings
from expctl.inspection.readers.llvm_text import read_module

PRINTED = "*** IR Dump "
_ADDRESS = re.compile(r"^!(\d+) = !\{i32 (\d+), i32 \d+\}$", re.MULTILINE)
_PLACED = re.compile(
    r'^@("[^"]+"|[\w.$]+) = .*addrspace\(3\) global (%"[^"]+"|%[\w.$]+) .*!absolute_symbol !(\d+)$', re.MULTILINE
)
_DECLARED = re.compile(r'^@("[^"]+"|[\w.$]+) = .*addrspace\(3\) global (.+?) (?:undef|poison),', re.MULTILINE)
_FUNCTION = re.compile(r'^define [^@]*@("[^"]+"|[\w.$]+)\(.*?\n\}$', re.MULTILINE | re.DOTALL)
_NAME = r'ptr addrspace\(3\) @("[^"]+"|[\w.$]+)'
_MEMBER = re.compile(rf"getelementptr inbounds \((?:%\"[^\"]+\"|%[\w.$]+), {_NAME}, i32 0, i32 (\d+)\)|{_NAME}")
_ARRAY = re.compile(r"\[(\d+) x (.+)\]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class LdsVariable:
    """A variable of `size` bytes at byte `begin` of LDS; `extents` and bytes of one element, () for what is no array."""

    name: str
    begin: int
    size: int
    extents: tuple[int, ...]
    element: int

    def at(self, byte: int) -> str:
        """Return the text of the element that holds a byte of LDS, e.g. `tile[1][2]`."""
        index, axes = (byte - self.begin) // self.element, []
        for extent in reversed(self.extents):
            axes.append(index % extent)
            index //= extent
        return self.name + "".join(f"[{each}]" for each in reversed(axes))


def lds_variables(printed: str, kernel: str) -> tuple[LdsVariable, ...]:
    """Return the variables of a kernel with their places in LDS, in the order of these. `printed` is what LLVM wrote before and
    after the pass, of one module. Empty where the two don't tell; without dynamic LDS, and without what no access mentions.
    """
    parts = printed.split(PRINTED)[1:]
    if len(parts) != 2:
        return ()
    before, after = parts
    declared = {match[1].strip('"'): match[2] for match in _DECLARED.finditer(before)}
    addresses = {match[1]: int(match[2]) for match in _ADDRESS.finditer(after)}
    placed = {match[1].strip('"'): (match[2], addresses.get(match[3])) for match in _PLACED.finditer(after)}
    types = Surroundings(read_module(after), frozenset(), str)
    found = {}
    for (member, index), name in _replaced(before, after).items():
        kind, begin = placed.get(member, ("", None))
        if name in declared and begin is not None and member in (f"llvm.amdgcn.kernel.{kernel}.lds", "llvm.amdgcn.module.lds"):
            _, offset = types.member(kind, index)
            extents, element = _shape(declared[name])
            size, one = types.size(declared[name])[0], types.size(element)[0]
            if one:
                found[name] = LdsVariable(name=_plain(name), begin=begin + offset, size=size, extents=extents, element=one)
    return tuple(sorted(found.values(), key=lambda each: each.begin))


def _replaced(before: str, after: str) -> dict[tuple[str, int], str]:
    """Return which variable each (structure, index of a member) was."""
    functions = {match[1]: match[0] for match in _FUNCTION.finditer(after)}
    found: dict[tuple[str, int], str] = {}
    for match in _FUNCTION.finditer(before):
        names, members = list(_mentions(match[0])), list(_mentions(functions.get(match[1], "")))
        if len(names) == len(members):
            found |= {member: name for (name, _), member in zip(names, members, strict=True) if member[0].startswith("llvm.")}
    return found


def _mentions(function: str) -> Iterator[tuple[str, int]]:
    for line in function.split("\n"):
        if "@llvm.donothing" not in line:
            for match in _MEMBER.finditer(line):
                yield (match[1] or match[3]).strip('"'), int(match[2] or 0)


def _shape(kind: str) -> tuple[tuple[int, ...], str]:
    extents = []
    while match := _ARRAY.match(kind):
        extents.append(int(match[1]))
        kind = match[2]
    return tuple(extents), kind


def _plain(symbol: str) -> str:
    """Return the last name in a mangled one, e.g. tile of _ZZ1kPfE4tile."""
    text = re.sub(r"E?(?:_\d+|__\d+_)?$", "", symbol)
    ends = [each.end() for each in re.finditer(r"\d+", text) if each.end() + int(each[0]) == len(text)]
    return text[ends[-1] :] if symbol.startswith("_Z") and ends else symbol
