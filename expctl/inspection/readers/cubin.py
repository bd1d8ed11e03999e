"""Parse an ELF file for NVIDIA GPUs (a cubin): its kernels, their registers and memory, and hashes of their machine code.

Source: what cuobjdump -elf and -res-usage of CUDA 12.9 print of the same files; NVIDIA publishes no description.
"""

import hashlib
import io
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

from expctl.domain.errors import Refused
from expctl.domain.text import one_line
from expctl.gpu.architectures import ModeName
from expctl.inspection.model.report import Resources
from expctl.inspection.readers.code_object import CodeObject
from expctl.inspection.readers.elf_bounds import BadHeaders, check_bounds

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

EM_CUDA = 190
NEW_ABI = 8  # from this ABI version on, the architecture stands in the second byte of the flags
SHARED_RESERVED, RESERVED_FROM = (
    1024,
    90,
)  # bytes of shared memory that the system takes from sm_90 on, which the section counts
THREADS_MOST = 1024
MAX_THREADS, REQUIRED_THREADS, FRAME_BYTES, REGISTERS = 0x05, 0x10, 0x11, 0x2F
_WITH_SIZE = 4
_CODE, _SHARED, _INFO, _CONSTANTS = ".text.", ".nv.shared.", ".nv.info", ".nv.constant"


def is_cubin(data: bytes) -> bool:
    """Return whether `data` begins like an ELF file for NVIDIA GPUs."""
    return data.startswith(b"\x7fELF") and len(data) > 20 and int.from_bytes(data[18:20], "little") == EM_CUDA


def parse_cubin(data: bytes, where: str) -> CodeObject:
    """Parse the bytes of a cubin; `where` names its file in errors. Raises Refused if it is damaged or has no kernel."""
    from elftools.common.exceptions import ELFError
    from elftools.construct import ConstructError
    from elftools.elf.elffile import ELFFile

    try:
        check_bounds(data)
        return _parse(ELFFile(io.BytesIO(data)), where)
    except (BadHeaders, ELFError, ConstructError, struct.error, ValueError) as error:
        raise _refused(where, one_line(str(error), 100) or type(error).__name__) from error


def _parse(elf: "ELFFile", where: str) -> CodeObject:
    ident, flags = elf["e_ident"], elf["e_flags"]
    number = flags >> 8 & 0xFF if ident["EI_ABIVERSION"] >= NEW_ABI else flags & 0xFF
    sections = {section.name: section for section in elf.iter_sections()}
    registers, frames = _by_function(elf, REGISTERS), _by_function(elf, FRAME_BYTES)
    names = [name.removeprefix(_CODE) for name in sections if name.startswith(_CODE)]
    kernels = [name for name in names if f"{_INFO}.{name}" in sections and name in registers]
    if not kernels:
        raise _refused(where, "one without a kernel")
    constants = b"".join(part.data() for name, part in sections.items() if name.startswith(_CONSTANTS) and "0." not in name)
    found, hashes = [], []
    for name in kernels:
        code, about = sections[_CODE + name].data(), dict(_attributes(sections[f"{_INFO}.{name}"].data()))
        threads = about.get(REQUIRED_THREADS) or about.get(MAX_THREADS)
        x, y, z = struct.unpack_from("<3I", threads) if threads else (THREADS_MOST, 1, 1)
        shared = sections[_SHARED + name]["sh_size"] if _SHARED + name in sections else 0
        found.append(
            Resources(
                name=name,
                vgpr=registers[name],
                agpr=0,
                sgpr=0,
                lds_bytes=shared - SHARED_RESERVED if number >= RESERVED_FROM and shared >= SHARED_RESERVED else shared,
                scratch_bytes=frames.get(name, 0),
                vgpr_spills=0,
                sgpr_spills=0,
                workgroup=max(1, min(x * y * z, THREADS_MOST)),
                wave=32,
                mode=ModeName.SM,
                code_bytes=len(code),
                printed_occupancy=None,
            )
        )
        facts = f"{registers[name]} {shared} {frames.get(name, 0)} {x} {y} {z}\n".encode()
        hashes.append(hashlib.sha256(facts + code + constants).hexdigest())
    return CodeObject(arch=f"sm_{number}", kernels=tuple(found), hashes=tuple(hashes))


def _by_function(elf: "ELFFile", attribute: int) -> dict[str, int]:
    """Return function -> value of an attribute that the file has once for each function."""
    from elftools.elf.sections import SymbolTableSection

    table, section = elf.get_section_by_name(".symtab"), elf.get_section_by_name(_INFO)
    if not isinstance(table, SymbolTableSection) or section is None:
        return {}
    pairs = [struct.unpack("<2I", value) for key, value in _attributes(section.data()) if key == attribute and len(value) == 8]
    return {table.get_symbol(index).name: value for index, value in pairs if index < table.num_symbols()}


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        length = size if form == _WITH_SIZE else 0
        yield attribute, data[at + 4 : at + 4 + length]
        at += 4 + length


def _refused(where: str, found: str) -> Refused:
    return Refused(
        "this is not a cubin that expctl can read",
        code="not-a-cubin",
        expected="an ELF file for an NVIDIA GPU with at least one kernel",
        found=found,
        where=where,
        hint="make it with ptxas or nvcc -cubin; from Triton it is NAME.cubin in the cache folder",
    )
