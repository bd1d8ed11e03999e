"""Find the code of the GPU in a host library or program as hipcc writes it: an offload bundle in the section .hip_fatbin."""

import io
from pathlib import Path

from expctl.inspection.readers import code_identity, offload_bundle

SECTION = ".hip_fatbin"


def device_code(library: Path) -> bytes:
    """Return the code object in the ELF file `library`, b"" if it has none or is no ELF file. Raises Refused for a damaged or
    compressed bundle, and for one with code for several GPUs.
    """
    from elftools.elf.elffile import ELFFile

    try:
        section = ELFFile(io.BytesIO(library.read_bytes())).get_section_by_name(SECTION)
        bundle = section.data() if section is not None else b""
    except code_identity.damages():
        return b""
    return offload_bundle.device_entry(bundle, "", str(library)) if offload_bundle.is_bundle(bundle) else b""
