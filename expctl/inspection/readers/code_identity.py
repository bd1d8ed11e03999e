"""Compute hashes of machine code by which equal builds are recognised; most leave out symbol names and debug information."""

import hashlib
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from expctl.domain.errors import Refused
from expctl.domain.run.step_result import DamagedFile
from expctl.domain.text import one_line

# Loaded sections that only describe the code: build ids, symbol tables, their hashes and addresses.
DESCRIPTIVE = (".note", ".dynsym", ".dynstr", ".hash", ".gnu.hash", ".gnu.version", ".dynamic", ".eh_frame", ".comment")


def code_hash(artifact: Path) -> str:
    """Return the SHA-256 of a file: for ELF only of its loaded code and data, without notes and symbols; else of all bytes.

    Raises DamagedFile.
    """
    with open(artifact, "rb") as file:
        if file.read(4) != b"\x7fELF":
            file.seek(0)
            return hashlib.sha256(file.read()).hexdigest()
        return _hash_of(file, lambda section: section.name.startswith(DESCRIPTIVE))


def image_hash(artifact: Path) -> str:
    """Return the SHA-256 of all that is loaded from an ELF file, except non-executable notes; "" when it isn't ELF. Unlike
    `code_hash` it includes symbols, so it changes when a call of `sinf` becomes one of `cosf`. Raises DamagedFile.
    """
    with open(artifact, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return ""
        executable = 0x4  # SHF_EXECINSTR
        return _hash_of(file, lambda section: section["sh_type"] == "SHT_NOTE" and not section["sh_flags"] & executable)


def _hash_of(file: BinaryIO, is_left_out: Callable[[Any], bool]) -> str:
    ELFFile, SH_FLAGS = _elf_reader()  # noqa: N806  classes
    digest = hashlib.sha256()
    file.seek(0)
    with _damage_named():
        for section in ELFFile(io.BytesIO(file.read())).iter_sections():  # where no position is an error of the machine
            if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and not is_left_out(section):
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


def damages() -> tuple[type[Exception], ...]:
    """Return what pyelftools raises at a file that is damaged, or only begins like ELF."""
    from elftools.common.exceptions import ELFError
    from elftools.construct import ConstructError

    return (
        ELFError,
        ConstructError,
        ValueError,
        LookupError,
        ArithmeticError,
        AttributeError,
        TypeError,
        AssertionError,
        MemoryError,
    )


@contextmanager
def _damage_named() -> Iterator[None]:
    try:
        yield
    except damages() as error:
        raise DamagedFile(one_line(str(error), 100) or type(error).__name__) from error


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
