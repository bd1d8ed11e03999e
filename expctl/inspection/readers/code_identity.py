"""What makes two builds the same code: the sections that are loaded, without debug information, notes and symbol names."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

# Sections that are loaded but name or describe rather than do: build ids, symbol tables, their hashes and addresses.
DESCRIPTIVE = (".note", ".dynsym", ".dynstr", ".hash", ".gnu.hash", ".gnu.version", ".dynamic", ".eh_frame", ".comment")


def code_hash(artifact: Path) -> str:
    """SHA-256 over name and contents of the loaded sections of an ELF file; of the whole file when it isn't ELF."""
    with open(artifact, "rb") as file:
        if file.read(4) != b"\x7fELF":
            file.seek(0)
            return hashlib.sha256(file.read()).hexdigest()
        from elftools.elf.constants import SH_FLAGS
        from elftools.elf.elffile import ELFFile

        digest = hashlib.sha256()
        for section in ELFFile(file).iter_sections():
            if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and not section.name.startswith(DESCRIPTIVE):
                contents = b"" if section["sh_type"] == "SHT_NOBITS" else section.data()
                digest.update(f"{section.name} {section['sh_size']}\n".encode() + contents)
        return digest.hexdigest()


def kernel_hash(code: bytes, descriptor: bytes, shared: Iterable[bytes]) -> str:
    """SHA-256 of one kernel of an AMD GPU: its instructions, its descriptor, and the functions and data that its file shares
    among kernels, in any order. Of a relocatable file it depends on nothing else; in a linked one, instructions that address
    data hold a distance."""
    digest = hashlib.sha256()
    for part in (code, descriptor, *sorted(each for each in shared if each)):
        digest.update(f"{len(part)}\n".encode() + part)
    return digest.hexdigest()
