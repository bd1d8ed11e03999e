"""LLVM's constant folding as an oracle: the operation of every case on all its operand sets, folded by the pinned clang."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.gfx11.cases.case import Case, Row, width

TARGET = ("--target=amdgcn-amd-amdhsa", "-mcpu=gfx1151", "-nogpulib", "-Wno-override-module")
_TYPES = {
    "f32": "float",
    "f16": "half",
    "f64": "double",
    "mask": "i1",
    "scc": "i1",
    "exec": "i1",
    "active": "i32",
    "v2f16": "<2 x half>",
    "v2i16": "<2 x i16>",
}
_NAMES = "abcdefgh"
_FUNCTION = re.compile(r"^define [^\n]*@f(\d+)\(.*?^\}", re.MULTILINE | re.DOTALL)
Folded = dict[str, list[int | None]]
"""By text of the case, one value per operand set; None where LLVM left code."""
_STORE = re.compile(r"^  store volatile i\d+ (\S+),", re.MULTILINE)


def type_of(kind: str) -> str:
    return _TYPES.get(kind, kind)


def body(case: Case, suffix: str) -> str:
    """The case's IR with all its names made unlike those of other operand sets."""
    return re.sub(r"%(\w+)", rf"%\1{suffix}", case.ir)


def function_of(number: int, case: Case) -> str:
    """One volatile store per operand set: the results side by side, the first in the lowest bits."""
    total = sum(width(kind) for kind in case.results)
    lines = [f"define void @f{number}(ptr %p) {{"]
    for i, row in enumerate(case.operand_sets()):
        x = f".{i}"
        for name, kind, value in zip(_NAMES, case.sources, row, strict=False):
            lines.append(f"  %{name}{x} = bitcast i{width(kind)} {value} to {type_of(kind)}")
        lines.append(body(case, x))
        joined, at = "0", 0
        for name, kind in zip("rst", case.results, strict=False):
            n = width(kind)
            lines.append(f"  %bits.{name}{x} = bitcast {type_of(kind)} %{name}{x} to i{n}")
            wide = f"%bits.{name}{x}"
            if n < total:
                lines.append(f"  %wide.{name}{x} = zext i{n} {wide} to i{total}")
                wide = f"%wide.{name}{x}"
            lines.append(f"  %up.{name}{x} = shl i{total} {wide}, {at}")
            lines.append(f"  %all.{name}{x} = or i{total} %up.{name}{x}, {joined}")
            joined, at = f"%all.{name}{x}", at + n
        lines.append(f"  store volatile i{total} {joined}, ptr %p")
    return "\n".join([*lines, "  ret void", "}"])


def folded(cases: Sequence[Case], folder: Path) -> Folded:
    """Compiles once for all."""
    source, out = folder / "cases.ll", folder / "folded.ll"
    source.write_text("\n".join(function_of(i, case) for i, case in enumerate(cases)))
    argv = [
        sys.executable,
        "-m",
        "ziglang",
        "clang",
        "-x",
        "ir",
        str(source),
        *TARGET,
        "-O1",
        "-S",
        "-emit-llvm",
        "-o",
        str(out),
    ]
    ran = subprocess.run(argv, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[:2000]
    found: Folded = {}
    for match in _FUNCTION.finditer(out.read_text()):
        values = [_number(text) for text in _STORE.findall(match[0])]
        found[cases[int(match[1])].text] = values
    return found


def _number(text: str) -> int | None:
    if text in ("true", "false"):
        return int(text == "true")
    return int(text) if re.fullmatch(r"-?\d+", text) else None


def results_of(case: Case, joined: int) -> Row:
    """The results of one operand set, apart."""
    values, at = [], 0
    for kind in case.results:
        values.append(joined >> at & (1 << width(kind)) - 1)
        at += width(kind)
    return tuple(values)
