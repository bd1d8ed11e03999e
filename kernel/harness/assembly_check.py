"""Checks that the interpreter reads an assembly text as the assembler does, byte for byte (expctl/gfx11/text/round_trip.py)."""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from pathlib import Path

from expctl.gfx11.text.round_trip import unparse
from kernel.runtime.build import BuildError

ENTRY = slice(16, 24)
"""Bytes of a kernel descriptor that hold the distance to its code. They depend on what else is in the file: not compared."""


def first_difference(assembly: str, kernels: list[str]) -> str:
    """Say in words which kernel assembles to other bytes once the interpreter has read and rewritten its text; "" if none.

    Raises BuildError without an assembler, and the errors of expctl.gfx11.text.round_trip.unparse.
    """
    as_read = unparse(assembly, kernels)
    built, read = (
        _symbols(_object(assembly, "the artifact"), kernels),
        _symbols(_object(as_read, "what was read of it"), kernels),
    )
    for name in kernels:
        for part, what in ((name, "code"), (f"{name}.kd", "descriptor")):
            if built.get(part) is None or built[part] != read.get(part):
                return f"the {what} of {name} is not what its text says: the assembler makes other bytes of it"
    return ""


def _object(text: str, what: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="scaled_mm.") as folder:
        source, loose = Path(folder) / "kernel.s", Path(folder) / "kernel.o"
        source.write_text(text)
        argv = [sys.executable, "-m", "ziglang", "clang", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx1151", "-x", "assembler"]
        ran = subprocess.run([*argv, "-c", str(source), "-o", str(loose)], capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise BuildError(f"{what} can't be assembled:\n{ran.stderr[-2000:]}")
        return loose.read_bytes()


def _symbols(data: bytes, kernels: list[str]) -> dict[str, bytes]:
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    elf = ELFFile(io.BytesIO(data))
    table = elf.get_section_by_name(".symtab")
    wanted = {*kernels, *(f"{name}.kd" for name in kernels)}
    found: dict[str, bytes] = {}
    for symbol in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
        if symbol.name in wanted and isinstance(symbol["st_shndx"], int):
            begin = symbol["st_value"]
            contents = elf.get_section(symbol["st_shndx"]).data()[begin : begin + symbol["st_size"]]
            found[symbol.name] = contents[: ENTRY.start] + contents[ENTRY.stop :] if symbol.name.endswith(".kd") else contents
    return found
