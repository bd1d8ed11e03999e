"""Read the types of a kernel's parameters, and the members of structs among them, from the DWARF of an ELF file."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from expctl.domain.errors import Refused
from expctl.inspection.readers.elf_bounds import BadHeaders, check_bounds

if TYPE_CHECKING:
    from elftools.dwarf.die import DIE
    from elftools.elf.elffile import ELFFile

POINTER_BYTES = 8
_VECTOR = re.compile(r"[a-z_]+[0-9]*?[1-4]|dim3")
"""Names of structs that are vectors: float4, __half2."""
_ABSOLUTE = {3: 8, 6: 4}
"""Types of relocations that put an address in so many bytes. Source: LLVM, "User Guide for AMDGPU Backend"."""
_POINTERS = {"DW_TAG_pointer_type": "*", "DW_TAG_reference_type": "&", "DW_TAG_rvalue_reference_type": "&&"}
_STRUCTS = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")
_TRANSPARENT = ("DW_TAG_typedef", "DW_TAG_volatile_type", "DW_TAG_restrict_type", "DW_TAG_atomic_type")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """`count` numbers, or a pointer, in a struct that is passed by value. `name` is as C++ names it: `size.x` in a nested one.
    `offset` and `size`, that of all of them, are in bytes.
    """

    name: str
    type: str
    offset: int
    size: int
    count: int = 1
    is_pointer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterType:
    """A parameter's name and type as C++ writes it; `members` is empty unless the type is a struct or union."""

    name: str
    type: str
    members: tuple[Member, ...] = ()


def parameter_types(data: bytes, symbol: str) -> tuple[ParameterType, ...]:
    """Return the parameters of the function `symbol` of an ELF file, linked or not; empty if the file has no DWARF of it."""
    from elftools.common.exceptions import DWARFError, ELFError
    from elftools.construct import ConstructError
    from elftools.elf.elffile import ELFFile

    try:
        check_bounds(data)
        elf = ELFFile(io.BytesIO(_relocated(data)))
        if not elf.has_dwarf_info():
            return ()
        found = next(_functions(elf, symbol), None)
        return () if found is None else tuple(_parameter(each) for each in _children(found, "DW_TAG_formal_parameter"))
    except (BadHeaders, ELFError, DWARFError, ConstructError, Refused, ValueError, KeyError, AttributeError, RecursionError):
        return ()  # a damaged table tells nothing, as none does


def _relocated(data: bytes) -> bytes:
    """Return an ELF file with the references in its debug sections filled in, which a linked one has already."""
    from elftools.elf.elffile import ELFFile
    from elftools.elf.relocation import RelocationSection
    from elftools.elf.sections import SymbolTableSection

    patched = bytearray(data)
    elf = ELFFile(io.BytesIO(data))
    for section in elf.iter_sections():
        if not isinstance(section, RelocationSection) or ".debug_" not in section.name:
            continue
        begin, symbols = elf.get_section(section["sh_info"])["sh_offset"], elf.get_section(section["sh_link"])
        if not isinstance(symbols, SymbolTableSection):
            continue
        for each in section.iter_relocations():
            if width := _ABSOLUTE.get(each["r_info_type"]):
                value = symbols.get_symbol(each["r_info_sym"])["st_value"] + each["r_addend"]
                at = begin + each["r_offset"]
                patched[at : at + width] = value.to_bytes(width, "little")
    return bytes(patched)


def _functions(elf: ELFFile, symbol: str) -> Iterator[DIE]:
    for unit in elf.get_dwarf_info(relocate_dwarf_sections=False).iter_CUs():
        for die in unit.iter_DIEs():
            names = (_text(die, "DW_AT_linkage_name"), _text(die, "DW_AT_name"))
            if die.tag == "DW_TAG_subprogram" and symbol in names and _children(die, "DW_TAG_formal_parameter"):
                yield die


def _children(die: DIE, *tags: str) -> list[DIE]:
    return [each for each in die.iter_children() if each.tag in tags]


def _parameter(die: DIE) -> ParameterType:
    kind = _target(die)
    members = _members(kind) if kind is not None and kind.tag in _STRUCTS else ()
    return ParameterType(
        name=_text(die, "DW_AT_name"), type=_type_name(_attribute_die(die, "DW_AT_type")), members=tuple(members)
    )


def _members(struct: DIE) -> Iterator[Member]:
    """Yield what a struct is made of: of a union its first member, of bit fields the number that holds them."""
    parts = _children(struct, "DW_TAG_inheritance", "DW_TAG_member")
    shared: set[int] = set()  # numbers of which several bit fields are parts
    for part in parts[:1] if struct.tag == "DW_TAG_union_type" else parts:
        at = _offset(part)
        if "DW_AT_external" in part.attributes or "DW_AT_declaration" in part.attributes or at in shared:
            continue
        if "DW_AT_data_bit_offset" in part.attributes:
            shared.add(at)
        yield from _leaves(part, _text(part, "DW_AT_name"), at)


def _leaves(part: DIE, name: str, offset: int) -> Iterator[Member]:
    kind = _target(part)
    if kind is None:
        return
    size = _size(kind)
    if kind.tag in _POINTERS:
        yield Member(name=name, type=_type_name(_attribute_die(part, "DW_AT_type")), offset=offset, size=size, is_pointer=True)
    elif kind.tag == "DW_TAG_array_type" or kind.tag in _STRUCTS:
        inner = list(_elements(kind) if kind.tag == "DW_TAG_array_type" else _members(kind))
        placed = [replace(each, name=_joined(name, each.name), offset=offset + each.offset) for each in inner]
        is_one = kind.tag == "DW_TAG_array_type" or _VECTOR.fullmatch(_text(kind, "DW_AT_name")) is not None
        yield from _merged(placed, name, offset, size) if is_one else placed
    else:
        yield Member(name=name, type=_type_name(kind), offset=offset, size=size)


def _elements(array: DIE) -> Iterator[Member]:
    element = _target(array)
    stride = _size(element) if element is not None else 0
    for i in range(_size(array) // stride if stride else 0):
        yield from _leaves(array, f"[{i}]", i * stride)


def _merged(parts: list[Member], name: str, offset: int, size: int) -> list[Member]:
    """Return equal numbers without a gap as one member."""
    if not parts or any(each.is_pointer or each.type != parts[0].type for each in parts):
        return parts
    if sum(each.size for each in parts) != size:
        return parts
    count = sum(each.count for each in parts)
    return [Member(name=name, type=parts[0].type, offset=offset, size=size, count=count)]


def _joined(name: str, inner: str) -> str:
    if not name or not inner:
        return name or inner
    return f"{name}{inner}" if inner.startswith("[") else f"{name}.{inner}"


def _offset(part: DIE) -> int:
    """Return a member's offset in bytes; of a bit field, that of the number which holds it."""
    if bits := part.attributes.get("DW_AT_data_bit_offset"):
        kind = _target(part)
        width = 8 * _size(kind) if kind is not None else 8
        return int(bits.value) // width * width // 8
    place = part.attributes.get("DW_AT_data_member_location")
    return int(place.value) if place is not None else 0


def _size(die: DIE) -> int:
    if die.tag in _POINTERS:
        return POINTER_BYTES
    if die.tag != "DW_TAG_array_type" or "DW_AT_byte_size" in die.attributes:
        return int(die.attributes["DW_AT_byte_size"].value)
    count = 1
    for axis in _children(die, "DW_TAG_subrange_type"):
        count *= int(axis.attributes["DW_AT_count"].value) if "DW_AT_count" in axis.attributes else 0
    element = _target(die)
    return count * _size(element) if element is not None else 0


def _target(die: DIE) -> DIE | None:
    """Return the type of something without its typedefs and qualifiers; None for void."""
    found = _attribute_die(die, "DW_AT_type")
    while found is not None and found.tag in (*_TRANSPARENT, "DW_TAG_const_type"):
        found = _attribute_die(found, "DW_AT_type")
    return found


def _type_name(die: DIE | None) -> str:
    if die is None:
        return "void"
    inner = _attribute_die(die, "DW_AT_type")
    if die.tag in _POINTERS:
        return _type_name(inner) + _POINTERS[die.tag]
    if die.tag == "DW_TAG_const_type":
        return f"{_type_name(inner)} const"
    if die.tag in _TRANSPARENT or (die.tag == "DW_TAG_enumeration_type" and inner is not None):
        return _type_name(inner)
    if die.tag == "DW_TAG_array_type":
        return f"{_type_name(inner)}[{_size(die) // max(_size(_target(die) or die), 1)}]"
    return _text(die, "DW_AT_name") or "a struct without a name"


def _attribute_die(die: DIE, name: str) -> DIE | None:
    return die.get_DIE_from_attribute(name) if name in die.attributes else None


def _text(die: DIE, name: str) -> str:
    found = die.attributes.get(name)
    return found.value.decode(errors="replace") if found is not None and isinstance(found.value, bytes) else ""
