"""Propose a launch description for a kernel, from its parameters: a text to edit, for types don't say how long arrays are."""

from __future__ import annotations

import re
from dataclasses import dataclass

from expctl.check.dtypes import Dtype
from expctl.check.kernel_file import KernelFile, Parameter, Signature, short_name
from expctl.domain.text import plain_text

BLOCK = 256
UNBOUNDED = 1024
"""The most threads of a block where the source has no __launch_bounds__."""
SIZES = {1: 1000, 2: 50}
MANY_SIZES = 33
_SIZE_NAME = re.compile(
    r"[a-zA-Z]|.*(size|count|len|length|num|rows?|cols?|columns?|width|height|depth|elements?|total|batch|heads?|dims?|seq)\w*"
    r"|n_?\w*", re.IGNORECASE,
)  # fmt: skip
_IS_CONST = re.compile(r"\bconst\b[^*]*\*")
_WORDS = re.compile(r"\b(const|volatile|__restrict__)\b|[*&]")
_VECTOR = re.compile(r"(u?(?:char|short|int|long|longlong)|float|double)([1-4])|(.+) vector\[(\d+)\]")
_TYPES = {
    "double": Dtype.F64, "float": Dtype.F32, "_Float16": Dtype.F16, "half": Dtype.F16, "__half": Dtype.F16,
    "__bf16": Dtype.BF16, "__hip_bfloat16": Dtype.BF16, "hip_bfloat16": Dtype.BF16, "bool": Dtype.U8, "void": Dtype.U8,
    "char": Dtype.I8, "signed char": Dtype.I8, "unsigned char": Dtype.U8, "uchar": Dtype.U8, "short": Dtype.I16,
    "unsigned short": Dtype.U16, "ushort": Dtype.U16, "int": Dtype.I32, "unsigned int": Dtype.U32, "uint": Dtype.U32,
    "long": Dtype.I64, "long long": Dtype.I64, "longlong": Dtype.I64, "unsigned long": Dtype.U64, "ulong": Dtype.U64,
    "unsigned long long": Dtype.U64, "ulonglong": Dtype.U64, "size_t": Dtype.U64, "int8_t": Dtype.I8, "uint8_t": Dtype.U8,
    "int16_t": Dtype.I16, "uint16_t": Dtype.U16, "int32_t": Dtype.I32, "uint32_t": Dtype.U32, "int64_t": Dtype.I64,
    "uint64_t": Dtype.U64,
}  # fmt: skip
_BY_SIZE = {1: Dtype.U8, 2: Dtype.F16, 4: Dtype.I32, 8: Dtype.I64}
_PAIRS = {"__half2": (Dtype.F16, 2), "half2": (Dtype.F16, 2), "__hip_bfloat162": (Dtype.BF16, 2)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """What a parameter is, or points to: `count` numbers of a type. `is_known` is False where the type is a guess."""

    dtype: Dtype
    count: int = 1
    is_known: bool = True


def element_of(parameter: Parameter) -> Element:
    """Return the elements of a parameter's type; a guess from its size where the file doesn't give a type."""
    name = " ".join(_WORDS.sub(" ", parameter.type).split())
    if name in _PAIRS:
        return Element(dtype=_PAIRS[name][0], count=_PAIRS[name][1])
    vector = _VECTOR.fullmatch(name)
    base, count = (vector[1] or vector[3], int(vector[2] or vector[4])) if vector else (name, 1)
    if base in _TYPES:
        return Element(dtype=_TYPES[base], count=count)
    return Element(dtype=Dtype.F32 if parameter.is_pointer else _BY_SIZE.get(parameter.size, Dtype.U8), is_known=False)


def proposal(file: KernelFile, kernel: Signature) -> str:
    """Return a launch description for `kernel` as YAML. It can be launched as it is, but extents and roles are guesses."""
    names = _names(kernel)
    scalars = [(name, each) for name, each in zip(names, kernel.parameters, strict=True) if not each.is_pointer]
    wholes = [name for name, each in scalars if not element_of(each).dtype.is_float]
    sizes = [name for name in wholes if _SIZE_NAME.fullmatch(name)]
    shapes = {name: SIZES.get(len(sizes), MANY_SIZES) for name in sizes} or {"n": SIZES[1]}
    block = _block(kernel, sizes)
    written = "".join(f"\n{line}" for line in _entries(kernel, names, list(shapes), sizes)) or " []"
    which = f"kernel: {_quoted(plain_text(kernel.cpp_name.name))}\n" if len(file.kernels) > 1 else ""
    extra = "dynamic_lds: 4096             # bytes, for extern __shared__\n" if _has_dynamic_lds(file) else ""
    file_name = plain_text(str(file.file))
    title = plain_text(short_name(kernel))
    return (
        f"# {plain_text(str(kernel.cpp_name))}\n"
        f"# Save as {title}.yaml, correct shapes and roles, then: expctl check {file_name} --launch {title}.yaml\n"
        f"{which}"
        f"shapes: {{{', '.join(f'{name}: {value}' for name, value in shapes.items())}}}\n"
        f"vary: {{{', '.join(f'{name}: [1, {2 * value}]' for name, value in shapes.items())}}}   # for --fuzz-shapes\n"
        f"grid: [{', '.join(_grid(list(shapes), block))}]   # workgroups\n"
        f"block: [{', '.join(map(str, block))}]   # threads\n"
        f"{extra}arguments:{written}\n"
    )


def _names(kernel: Signature) -> list[str]:
    """Return a name for each parameter: its own, made different from those before; else p0, p1, ..."""
    found: list[str] = []
    for i, each in enumerate(kernel.parameters):
        name = each.name if each.name.isidentifier() and each.name.isascii() else f"p{i}"
        found.append(f"{name}_{i}" if name in found else name)
    return found


def _block(kernel: Signature, sizes: list[str]) -> tuple[int, ...]:
    if kernel.needs_block:
        return tuple(kernel.needs_block)
    most = BLOCK if kernel.most_threads == UNBOUNDED else kernel.most_threads
    if kernel.axes == 1 or len(sizes) < 2:
        return (most,)
    side = next(side for side in (32, 16, 8, 4, 2, 1) if side * side <= most)
    return side, side


def _grid(shapes: list[str], block: tuple[int, ...]) -> list[str]:
    """Return an expression for each axis: x counts along the last of the shapes, y along the one before."""
    whole = [(name, extent) for name, extent in zip(reversed(shapes), block, strict=False) if extent > 1]
    return [f'"({name} + {extent - 1}) // {extent}"' for name, extent in whole] or [shapes[-1]]


def _entries(kernel: Signature, names: list[str], shapes: list[str], sizes: list[str]) -> list[str]:
    pairs = [
        (_entry(name, each, shapes, sizes), plain_text(_note(each)))
        for name, each in zip(names, kernel.parameters, strict=True)
    ]
    width = max((len(entry) for entry, _ in pairs), default=0)
    return [f"  {entry:<{width}}  # {note}" for entry, note in pairs]


def _entry(name: str, parameter: Parameter, shapes: list[str], sizes: list[str]) -> str:
    element = element_of(parameter)
    if not parameter.is_pointer:
        return f"- {{name: {name}, dtype: {element.dtype}, value: {name if name in sizes else 1}}}"
    extents = [*shapes[:2], *([str(element.count)] if element.count > 1 else [])]
    role = "" if _is_input(parameter) else ", role: out"
    return f"- {{name: {name}, dtype: {element.dtype}, shape: [{', '.join(extents)}]{role}}}"


def _note(parameter: Parameter) -> str:
    element = element_of(parameter)
    if not element.is_known:
        what = parameter.type or ("a pointer" if parameter.is_pointer else f"{parameter.size} bytes")
        return f"{what}: the type is a guess"
    if parameter.is_pointer and not _is_input(parameter):
        return f"{parameter.type}; role: inout if it is read too"
    return parameter.type


def _is_input(parameter: Parameter) -> bool:
    return parameter.access == "read_only" or _IS_CONST.search(parameter.type) is not None


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"\w+", name) else "'" + name.replace("'", "''") + "'"


def _has_dynamic_lds(file: KernelFile) -> bool:
    try:
        text = file.file.read_text(errors="replace")
    except OSError:
        return False
    return re.search(r"extern\s+__shared__|HIP_DYNAMIC_SHARED", text) is not None
