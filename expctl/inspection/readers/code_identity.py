"""Compute hashes of machine code by which equal builds are recognised; most leave out symbol names and debug information."""

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from expctl.domain.errors import Refused

# Loaded sections that only describe the code: build ids, symbol tables, their hashes and addresses.
DESCRIPTIVE = (".note", ".dynsym", ".dynstr", ".hash", ".gnu.hash", ".gnu.version", ".dynamic", ".eh_frame", ".comment")


def code_hash(artifact: Path) -> str:
    """Return the SHA-256 of a file: for ELF only of its loaded code and data, without notes and symbols; else of all bytes."""
    with open(artifact, "rb") as file:
        if file.read(4) != b"\x7fELF":
            file.seek(0)
            return hashlib.sha256(file.read()).hexdigest()
        ELFFile, SH_FLAGS = _elf_reader()  # noqa: N806  classes
        digest = hashlib.sha256()
        for section in ELFFile(file).iter_sections():
            if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and not section.name.startswith(DESCRIPTIVE):
                contents = b"" if section["sh_type"] == "SHT_NOBITS" else section.data()
                digest.update(f"{section.name} {section['sh_size']}\n".encode() + contents)
        return digest.hexdigest()


def image_hash(artifact: Path) -> str:
    """Return the SHA-256 of all that is loaded from an ELF file, except non-executable notes; "" when it isn't ELF. Unlike
    `code_hash` it includes symbols, so it changes when a call of `sinf` becomes one of `cosf`.
    """
    with open(artifact, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return ""
        ELFFile, SH_FLAGS = _elf_reader()  # noqa: N806  classes
        digest = hashlib.sha256()
        for section in ELFFile(file).iter_sections():
            is_note = section["sh_type"] == "SHT_NOTE" and not section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR
            if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and not is_note:
                contents = b"" if section["sh_type"] == "SHT_NOBITS" else section.data()
                digest.update(f"{section.name} {section['sh_size']}\n".encode() + contents)
        return digest.hexdigest()


def kernel_hash(code: bytes, descriptor: bytes, shared: Iterable[bytes]) -> str:
    """Return the SHA-256 of one AMD kernel: its instructions, its descriptor, and `shared`, what all kernels of the file use.

    The order of `shared` doesn't matter. In a linked file the hash also depends on where code and data lie, because
    instructions contain the distance to data; in a relocatable file it doesn't.
    """
    digest = hashlib.sha256()
    for part in (code, descriptor, *sorted(each for each in shared if each)):
        digest.update(f"{len(part)}\n".encode() + part)
    return digest.hexdigest()


def _elf_reader() -> tuple[Any, Any]:
    try:
        from elftools.elf.constants import SH_FLAGS
        from elftools.elf.elffile import ELFFile
    except ImportError as error:
        raise Refused(
            "two builds can't be compared",
            code="elf-reader-missing",
            expected="the Python package pyelftools, which reads the code sections of a library",
            found=f"none for {sys.executable}",
            hint="pip install 'expctl[harness]'",
        ) from error
    return ELFFile, SH_FLAGS
