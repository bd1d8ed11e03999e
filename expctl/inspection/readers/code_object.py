"""Parse an ELF file for AMD GPUs, linked or relocatable: its kernels, their metadata, and hashes of their machine code."""

import io
import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from expctl.domain.errors import Refused
from expctl.domain.text import one_line
from expctl.gpu.architectures import ModeName
from expctl.inspection.model.report import Resources
from expctl.inspection.readers import code_identity
from expctl.inspection.readers.assembly_text import no_kernel
from expctl.inspection.readers.elf_bounds import BadHeaders, check_bounds
from expctl.inspection.readers.message_pack import BadMessage, unpack
from expctl.inspection.readers.metadata import arch_of_target, resources_of

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

EM_AMDGPU = 224
NT_AMDGPU_METADATA = 32
DESCRIPTOR_BYTES = 64
_ENTRY_OFFSET = slice(16, 24)
_RSRC1_AT = 48
_WGP_MODE = 1 << 29
_ALLOC, _EXECUTE = 0x2, 0x4


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeObject:
    """A parsed code object; `hashes[i]` is the hash of the machine code of `kernels[i]`, `entries[i]` its AMDGPU metadata."""

    arch: str
    kernels: tuple[Resources, ...]
    hashes: tuple[str, ...]
    entries: tuple[dict[str, Any], ...] = ()


def parse_code_object(data: bytes, where: str) -> CodeObject:
    """Parse the bytes of a code object; `where` names its file in errors. Raises Refused if it is no code object of an AMD GPU,
    is damaged, or has no kernel.
    """
    from elftools.common.exceptions import ELFError
    from elftools.construct import ConstructError
    from elftools.elf.elffile import ELFFile

    try:
        check_bounds(data)
        elf = ELFFile(io.BytesIO(data))
        if elf["e_machine"] not in ("EM_AMDGPU", EM_AMDGPU):
            raise _refused(where, f"machine {elf['e_machine']}")
        metadata = _metadata(elf)
        symbols, unnamed = _contents(elf)
    except (BadHeaders, ELFError, ConstructError, BadMessage, struct.error, ValueError) as error:
        raise _refused(where, f"a damaged one ({one_line(str(error), 100) or type(error).__name__})") from error
    if not isinstance(metadata, dict) or not isinstance(metadata.get("amdhsa.kernels", []), list):
        raise _refused(where, "an ELF file without the AMDGPU metadata note")
    entries = [entry for entry in metadata.get("amdhsa.kernels", []) if isinstance(entry, dict)]
    if not entries:
        raise no_kernel(where)
    described = {f"{entry.get('.symbol', '')}" for entry in entries}
    codes = {name.removesuffix(".kd") for name in described}
    shared = [unnamed, *(contents for name, contents in symbols.items() if name not in described | codes)]
    kernels, hashes = [], []
    for entry in entries:
        descriptor = symbols.get(str(entry.get(".symbol", "")))
        code = symbols.get(str(entry.get(".symbol", "")).removesuffix(".kd"))
        if descriptor is None or code is None or len(descriptor) != DESCRIPTOR_BYTES:
            raise _refused(where, one_line(f"one without the code of {entry.get('.name')}"))
        (rsrc1,) = struct.unpack_from("<I", descriptor, _RSRC1_AT)
        mode = ModeName.WGP if rsrc1 & _WGP_MODE else ModeName.CU
        found = resources_of(entry, mode=mode, code_bytes=len(code), printed_occupancy=None, where=where)
        kernels.append(found)
        hashes.append(code_identity.kernel_hash(code, _without_entry(descriptor), shared))
    arch = arch_of_target(str(metadata.get("amdhsa.target", "")))
    if not arch.startswith("gfx9"):
        return CodeObject(arch=arch, kernels=tuple(kernels), hashes=tuple(hashes), entries=tuple(entries))
    in_cu = tuple(replace(each, mode=ModeName.CU) for each in kernels)  # this descriptor bit has another meaning before gfx10
    return CodeObject(arch=arch, kernels=in_cu, hashes=tuple(hashes), entries=tuple(entries))


def _without_entry(descriptor: bytes) -> bytes:
    """Return the kernel descriptor without its offset to the code, which depends on the rest of the file."""
    return descriptor[: _ENTRY_OFFSET.start] + descriptor[_ENTRY_OFFSET.stop :]


def _contents(elf: "ELFFile") -> tuple[dict[str, bytes], bytes]:
    """Return the bytes of functions and data by symbol, and all data that belong to no symbol (switch tables, literals).
    Padding is left out of the latter. Raises BadHeaders for a symbol outside its section.
    """
    from elftools.elf.sections import SymbolTableSection

    linked = elf["e_type"] != "ET_REL"
    sections = list(elf.iter_sections())
    held = {index: section.data() for index, section in enumerate(sections) if section["sh_type"] == "SHT_PROGBITS"}
    left = {
        index: bytearray(held[index])
        for index, section in enumerate(sections)
        if index in held
        and section["sh_flags"] & _ALLOC
        and not section["sh_flags"] & _EXECUTE
        and not section.name.startswith(code_identity.DESCRIPTIVE)
    }
    found: dict[str, bytes] = {}
    table = elf.get_section_by_name(".symtab") or elf.get_section_by_name(".dynsym")
    for symbol in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
        index = symbol["st_shndx"]
        if symbol["st_info"]["type"] not in ("STT_FUNC", "STT_OBJECT") or not isinstance(index, int):
            continue
        if index >= len(sections):
            raise BadHeaders(f"symbol {symbol.name} lies in section {index} of {len(sections)}")
        begin = symbol["st_value"] - (sections[index]["sh_addr"] if linked else 0)
        end = begin + symbol["st_size"]
        contents = held.get(index, b"")
        if begin < 0 or (index in held and end > len(contents)):
            raise BadHeaders(f"symbol {symbol.name} leaves its section")
        found[symbol.name] = contents[begin:end]
        if index in left:
            left[index][begin:end] = bytes(len(left[index][begin:end]))
    return found, b"".join(bytes(each).strip(b"\0") for each in left.values())


def _metadata(elf: "ELFFile") -> Any:
    """Return the decoded AMDGPU metadata note, searched in sections or, in a stripped file, in segments; None without one."""
    for section in elf.iter_sections():
        if section["sh_type"] == "SHT_NOTE" and (found := _note(section.data())) is not None:
            return unpack(found)
    for segment in elf.iter_segments():
        if segment["p_type"] == "PT_NOTE" and (found := _note(segment.data())) is not None:
            return unpack(found)
    return None


def _note(data: bytes) -> bytes | None:
    at = 0
    while at + 12 <= len(data):
        name_bytes, content_bytes, kind = struct.unpack_from("<III", data, at)
        begin = at + 12 + (name_bytes + 3) // 4 * 4
        if data[at + 12 : at + 12 + name_bytes].rstrip(b"\0") == b"AMDGPU" and kind == NT_AMDGPU_METADATA:
            return data[begin : begin + content_bytes]
        at = begin + (content_bytes + 3) // 4 * 4
    return None


def _refused(where: str, found: str) -> Refused:
    return Refused(
        "this is not a code object of an AMD GPU",
        code="not-amd-code-object",
        expected="an ELF file for EM_AMDGPU with metadata (code object version 3 or later)",
        found=found,
        where=where,
        hint="give the .hsaco or .co file, not the host library",
    )
