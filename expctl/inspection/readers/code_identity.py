"""Hash machine code so that equal builds are recognised: without debug information, notes and symbol names."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

# Loaded sections that only describe the code: build ids, symbol tables, their hashes and addresses.
DESCRIPTIVE = (".note", ".dynsym", ".dynstr", ".hash", ".gnu.hash", ".gnu.version", ".dynamic", ".eh_frame", ".comment")


def code_hash(artifact: Path) -> str:
    """Return the SHA-256 of an ELF file's code and data, without notes, symbols and the like; of the whole file if not ELF."""
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


def image_hash(artifact: Path) -> str:
    """Return the SHA-256 of all loaded sections of an ELF file but notes that can't be executed; "" when it isn't ELF.

    Unlike `code_hash` it changes with the names by which functions are called or found, e.g. with `sinf` for `cosf`.
    """
    with open(artifact, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return ""
        from elftools.elf.constants import SH_FLAGS
        from elftools.elf.elffile import ELFFile

        digest = hashlib.sha256()
        for section in ELFFile(file).iter_sections():
            is_note = section["sh_type"] == "SHT_NOTE" and not section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR
            if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and not is_note:
                contents = b"" if section["sh_type"] == "SHT_NOBITS" else section.data()
                digest.update(f"{section.name} {section['sh_size']}\n".encode() + contents)
        return digest.hexdigest()


def kernel_hash(code: bytes, descriptor: bytes, shared: Iterable[bytes]) -> str:
    """Return the SHA-256 of one AMD kernel: its instructions, its descriptor, and the parts of the file that kernels share.

    The order of `shared` doesn't matter. In a linked file, instructions that address data contain a distance, so the hash also
    depends on the layout; in a relocatable file it doesn't.
    """
    digest = hashlib.sha256()
    for part in (code, descriptor, *sorted(each for each in shared if each)):
        digest.update(f"{len(part)}\n".encode() + part)
    return digest.hexdigest()
