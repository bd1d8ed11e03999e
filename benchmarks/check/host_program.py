"""A kernel file as a program of the host: plain C++ with the headers in host_headers, the threads of a workgroup as fibers."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from expctl.check.buffers import Values
from expctl.check.case import Argument, Case, Role
from expctl.check.dtypes import bits_of
from expctl.check.resolved import Launch

HEADERS = Path(__file__).with_name("host_headers")
ZIG = (sys.executable, "-m", "ziglang")
OPTIONS = (
    "-std=c++17", "-w", "-fno-omit-frame-pointer", "-fno-strict-aliasing", "-fno-exceptions", "-fno-rtti",
    "-fno-threadsafe-statics", "-fno-sanitize=all", "-fno-optimize-sibling-calls", "-Xclang", "-ffloat16-excess-precision=none",
)  # fmt: skip
"""clang computes with _Float16 in single precision, and rounds an expression once, unless told to round each operation."""
ROUNDED_EACH = ("-O0", "-ffp-contract=off")
FUSED = ("-O1", "-ffp-contract=fast-honor-pragmas")
"""Clang's default for a GPU; code that is not optimised is never fused."""
DYNAMIC_LDS_BYTES = 1 << 16
SECONDS_MOST = 60
_DYNAMIC_LDS = re.compile(r"extern\s+__shared__[^;]*?(\w+)\s*\[\s*\]")


class NoHostRun(Exception):
    """The host can't compile or run a kernel; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRun:
    """Arrays by name after a launch, in the types that the kernel sees; names of the functions that a machine may round in its
    own way and that were called.
    """

    arrays: dict[str, Any]
    rounded: tuple[str, ...]


def build(source: str, kernel: str, folder: Path, *, contract: bool) -> Path:
    """Compile the text of a kernel file in `folder`, and return the program that launches its function `kernel`, a C++ name.
    `contract` lets a * b + c be fused. Raises NoHostRun with the first error.
    """
    (folder / "kernel.hip").write_text(source)
    main = f"int main(int, char **expctl_words) {{ return expctl_host::launch(&{kernel}, expctl_words); }}"
    (folder / "main.cpp").write_text(f'#include <host_launch.h>\n#include "kernel.hip"\n{main}\n')
    (folder / "dynamic_lds.c").write_text(_dynamic_lds(source))
    _run(["c++", *OPTIONS, *(FUSED if contract else ROUNDED_EACH), f"-I{HEADERS}", "-c", "main.cpp", "-o", "main.o"], folder)
    _run(["cc", "main.o", "dynamic_lds.c", "-lm", "-o", "program"], folder)
    return folder / "program"


def launch(program: Path, case: Case, at: Launch, values: Values, *, backward: bool = False, fill: int = 0) -> HostRun:
    """Launch a kernel with `values`; each byte of its `out` arrays begins as `fill`. `backward` runs workgroups, waves, lanes
    from the last to the first. Raises NoHostRun if it crashes, writes outside of an array, or doesn't end.
    """
    with tempfile.TemporaryDirectory() as folder:
        for i, argument in enumerate(case.arguments):
            (Path(folder) / str(i)).write_bytes(_bytes_of(argument, at, values, fill))
        kinds = "".join("a" if each.is_array else "s" for each in case.arguments)
        words = [str(program), folder, kinds, "b" if backward else "f", *map(str, (*at.grid, *at.block))]
        printed = _ended(words, program.parent)
        arrays = {
            each.name: np.fromfile(Path(folder) / str(i), dtype=each.dtype.stored).reshape(at.extents[each.name])
            for i, each in enumerate(case.arguments)
            if each.is_array
        }
        return HostRun(arrays=arrays, rounded=tuple(printed.split()))


def _bytes_of(argument: Argument, at: Launch, values: Values, fill: int) -> bytes:
    if not argument.is_array:
        return bytes(bits_of(np.array([at.scalars[argument.name]]), argument.dtype).tobytes())
    if argument.role is Role.OUT:
        return bytes([fill]) * (int(np.prod(at.extents[argument.name])) * argument.dtype.stored.itemsize)
    return bytes(np.asarray(values[argument.name]).tobytes())


def _dynamic_lds(source: str) -> str:
    names = sorted(set(_DYNAMIC_LDS.findall(source)))
    if len(names) > 1:
        raise NoHostRun(f"{', '.join(names)}: several names for the dynamic LDS")
    return "".join(f"_Thread_local _Alignas(64) char {name}[{DYNAMIC_LDS_BYTES}];\n" for name in names)


def _run(words: list[str], folder: Path) -> None:
    ended = subprocess.run([*ZIG, *words], cwd=folder, check=False, capture_output=True, text=True)
    if ended.returncode:
        errors = [line for line in ended.stderr.splitlines() if "error" in line]
        raise NoHostRun(f"not compiled: {errors[0] if errors else ended.stderr[-300:]}")


def _ended(words: list[str], folder: Path) -> str:
    try:
        ended = subprocess.run(words, cwd=folder, check=False, capture_output=True, text=True, timeout=SECONDS_MOST)
    except subprocess.TimeoutExpired:
        raise NoHostRun(f"goes on after {SECONDS_MOST} s") from None
    if ended.returncode:
        raise NoHostRun(ended.stderr.strip() or f"exit status {ended.returncode}")
    return ended.stdout
