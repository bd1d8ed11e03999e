"""Find the code of the GPU in a host library or program: as hipcc writes it, an offload bundle in the section .hip_fatbin; as
nvcc does, uncompressed cubins in .nv_fatbin.
"""

import io
from collections.abc import Iterator
from pathlib import Path

from expctl.inspection.readers import code_identity, offload_bundle
from expctl.inspection.readers.cubin import is_cubin

SECTION, NVIDIA_SECTION = ".hip_fatbin", ".nv_fatbin"
_ELF = b"\x7fELF"


def device_code(library: Path) -> bytes:
    """Return the code object in the ELF file `library`, b"" if it has none or is no ELF file. Raises Refused for a damaged or
    compressed bundle, and for one with code for several GPUs.
    """
    bundle = _section(library, SECTION)
    return offload_bundle.device_entry(bundle, "", str(library)) if offload_bundle.is_bundle(bundle) else b""


def cubins(library: Path) -> Iterator[bytes]:
    """Yield what begins like a cubin in the ELF file `library` and reaches to the end of its section, so that each may be
    followed by others. Nothing if it has none, or they are compressed.
    """
    data = _section(library, NVIDIA_SECTION)
    at = data.find(_ELF)
    while at >= 0:
        if is_cubin(data[at:]):
            yield data[at:]
        at = data.find(_ELF, at + 1)


def _section(library: Path, name: str) -> bytes:
    from elftools.elf.elffile import ELFFile

    try:
        section = ELFFile(io.BytesIO(library.read_bytes())).get_section_by_name(name)
        return bytes(section.data()) if section is not None else b""
    except code_identity.damages():
        return b""
