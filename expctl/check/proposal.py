"""Propose a launch description for a kernel, from its parameters: a text to edit, for types don't say how long arrays are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from expctl.check.dtypes import Dtype
from expctl.check.kernel_file import KernelFile, Parameter, Signature, short_name
from expctl.check.type_names import numbers_of
from expctl.domain.text import plain_text
from expctl.inspection.device_compiler import Options
from expctl.inspection.readers.parameter_types import Member
from expctl.inspection.readers.read_file import DEFAULT_ARCH

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
_BY_SIZE = {1: Dtype.U8, 2: Dtype.F16, 4: Dtype.I32, 8: Dtype.I64}
_SUFFIX = re.compile(r"\W+")
_DYNAMIC_LDS = re.compile(r"extern\s+__shared__|HIP_DYNAMIC_SHARED")
_STEP = re.compile(r"\bblockIdx\.x\s*\*\s*(\w+)")
_CONSTANT = r"(?:#\s*define\s+{0}\s+|\b{0}\s*=\s*)(\d+)\b"
_UPDATED = re.compile(r"atomic\w*\s*\(\s*&?\s*(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """What a parameter is, or points to: `count` numbers of a type. `is_known` is False where the type is a guess."""

    dtype: Dtype
    count: int = 1
    is_known: bool = True


def element_of(parameter: Parameter | Member) -> Element:
    """Return the elements of a parameter's or a member's type; a guess from its size where the file doesn't give a type that is
    known. An unknown struct is guessed as whole numbers of four bytes.
    """
    if found := numbers_of(parameter.type):
        count = 1 if isinstance(parameter, Member) and parameter.is_pointer else getattr(parameter, "count", 1)
        return Element(dtype=Dtype(found[0]), count=found[1] * count)
    if parameter.is_pointer:
        return Element(dtype=Dtype.F32, is_known=False)
    if parameter.size in _BY_SIZE:
        return Element(dtype=_BY_SIZE[parameter.size], is_known=False)
    dtype, size = (Dtype.U8, 1) if parameter.size % 4 else (Dtype.I32, 4)
    return Element(dtype=dtype, count=parameter.size // size, is_known=False)


def field_name(member: str) -> str:
    """Return the name that a description gives to a member of a struct: `size_x` for `size.x`, `p_1` for `p[1]`."""
    return _SUFFIX.sub("_", member).strip("_") or "p"


def proposal(file: KernelFile, kernel: Signature) -> str:
    """Return a launch description for `kernel` as YAML. It can be launched as it is, but extents and roles are guesses."""
    names = _names(kernel)
    wholes = [name for name, each in _numbers(kernel, names) if _is_whole(each)]
    sizes = list(dict.fromkeys(name for name in wholes if _SIZE_NAME.fullmatch(name)))
    shapes = {name: SIZES.get(len(sizes), MANY_SIZES) for name in sizes} or {"n": SIZES[1]}
    source = _source(file)
    block, doubt = _block(kernel, sizes, _step(source, file.options))
    updated = set(_UPDATED.findall(source))
    written = "".join(f"\n{line}" for line in _entries(kernel, names, list(shapes), sizes, updated)) or " []"
    which = f"kernel: {_quoted(plain_text(kernel.cpp_name.name))}\n" if len(file.kernels) > 1 else ""
    extra = "dynamic_lds: 4096             # bytes, for extern __shared__\n" if _DYNAMIC_LDS.search(source) else ""
    title = plain_text(short_name(kernel))
    command = shlex.join(["expctl", "check", str(file.file), *_words(file.options), "--launch", f"{title}.yaml"])
    return (
        f"# {plain_text(str(kernel.cpp_name))}\n"
        f"# Save as {title}.yaml, correct shapes and roles, then: {plain_text(command)}\n"
        f"{which}"
        f"shapes: {{{', '.join(f'{name}: {value}' for name, value in shapes.items())}}}\n"
        f"vary: {{{', '.join(f'{name}: [1, {2 * value}]' for name, value in shapes.items())}}}   # for --fuzz-shapes\n"
        f"grid: [{', '.join(_grid(list(shapes), block, kernel.group_axes))}]   # workgroups\n"
        f"block: [{', '.join(map(str, block))}]   # threads{doubt}\n"
        f"{extra}arguments:{written}\n"
    )


def _names(kernel: Signature) -> list[str]:
    """Return a name for each parameter: its own, made different from those before; else p0, p1, ..."""
    found: list[str] = []
    for i, each in enumerate(kernel.parameters):
        name = each.name if each.name.isidentifier() and each.name.isascii() else f"p{i}"
        found.append(f"{name}_{i}" if name in found else name)
    return found


def _block(kernel: Signature, sizes: list[str], step: int) -> tuple[tuple[int, ...], str]:
    """Return the block, and words for a comment where it is a guess; `step` is how far workgroups lie apart, 0 if unknown."""
    if kernel.needs_block:
        return tuple(kernel.needs_block), ""
    is_free = kernel.most_threads == UNBOUNDED
    doubt = ": a guess, the source doesn't fix it" if is_free else ""
    most = BLOCK if is_free else kernel.most_threads
    if kernel.axes == 1 or len(sizes) < 2:
        is_step = is_free and kernel.axes == 1 and 1 < step <= UNBOUNDED
        return ((step,), f": a guess from blockIdx.x * {step}") if is_step else ((most,), doubt)
    side = next(side for side in (32, 16, 8, 4, 2, 1) if side * side <= most)
    return (side, side), doubt


def _step(source: str, options: Options | None) -> int:
    """Return the constant by which a source multiplies blockIdx.x, 0 if there is none or several."""
    given = dict(each.split("=", 1) for each in (options.defines if options else ()) if "=" in each)
    found = set[str]()
    for name in _STEP.findall(source):
        defined = re.search(_CONSTANT.format(name), source)
        found.add(given.get(name, name if name.isdecimal() else defined[1] if defined else ""))
    (text,) = found if len(found) == 1 else ("",)
    return int(text) if text.isdecimal() else 0


def _words(options: Options | None) -> list[str]:
    """Return the words of a command that compile a source with `options`, but for those that are the default."""
    if options is None:
        return []
    usual = Options(arch=DEFAULT_ARCH)
    single = (
        ("-O", options.level.removeprefix("-O"), options.level != usual.level),
        ("--std", options.standard.removeprefix("-std="), options.standard != usual.standard),
        ("--arch", options.arch, options.arch != usual.arch),
    )
    several = [word for each in options.defines for word in ("-D", each)]
    several += [word for each in options.includes for word in ("-I", each)]
    return several + [word for key, value, is_told in single if is_told for word in (key, value)]


def _grid(shapes: list[str], block: tuple[int, ...], axes: int) -> list[str]:
    """Return an expression for each axis, at least `axes` while shapes last: x counts along the last of them, y along the one
    before.
    """
    extents = [*block, 1, 1][:3]
    many = max(axes, *(axis for axis, extent in enumerate(extents, 1) if extent > 1), 1)
    named = list(zip(reversed(shapes), extents, strict=False))[:many]
    return [f'"({name} + {extent - 1}) // {extent}"' if extent > 1 else name for name, extent in named]


def _numbers(kernel: Signature, names: list[str]) -> Iterator[tuple[str, Parameter | Member]]:
    """Yield name and type of what is passed by value, in structs as well."""
    for name, parameter in zip(names, kernel.parameters, strict=True):
        yield from ((field_name(each.name), each) for each in parameter.members if not each.is_pointer)
        if not parameter.members and not parameter.is_pointer:
            yield name, parameter


def _is_whole(parameter: Parameter | Member) -> bool:
    element = element_of(parameter)
    return element.count == 1 and not element.dtype.is_float


def _entries(kernel: Signature, names: list[str], shapes: list[str], sizes: list[str], updated: Collection[str]) -> list[str]:
    """Return the lines of all arguments; atomics change those in `updated`."""
    rows = [
        row
        for name, each in zip(names, kernel.parameters, strict=True)
        for row in _rows(name, each, shapes, sizes, name in updated)
    ]
    width = max((len(entry) for entry, _ in rows), default=0)
    return [f"  {entry:<{width}}  # {note}" if note else f"  {entry}" for entry, note in rows]


def _rows(name: str, parameter: Parameter, shapes: list[str], sizes: list[str], is_updated: bool) -> list[tuple[str, str]]:
    """Return the lines of an argument, each with its comment."""
    if not parameter.members:
        entry, note = _entry(name, parameter, shapes, sizes), _note(parameter)
        if is_updated and ", role: out" in entry:
            entry, note = entry.replace(", role: out", ", role: inout, values: zeros"), f"{parameter.type}; atomics update it"
        return [(entry, plain_text(note))]
    fields = [
        (f"    {_entry(field_name(each.name), each, shapes, sizes)}", plain_text(_note(each))) for each in parameter.members
    ]
    return [(f"- name: {name}", plain_text(f"{parameter.type}, {parameter.size} bytes")), ("  fields:", ""), *fields]


def _entry(name: str, parameter: Parameter | Member, shapes: list[str], sizes: list[str]) -> str:
    element = element_of(parameter)
    if not parameter.is_pointer:
        value = name if name in sizes else "1"
        several = f"[{', '.join(['1'] * element.count)}]"
        return f"- {{name: {name}, dtype: {element.dtype}, value: {value if element.count == 1 else several}}}"
    extents = [*shapes[:2], *([str(element.count)] if element.count > 1 else [])]
    role = "" if _is_input(parameter) else ", role: out"
    return f"- {{name: {name}, dtype: {element.dtype}, shape: [{', '.join(extents)}]{role}}}"


def _note(parameter: Parameter | Member) -> str:
    element = element_of(parameter)
    if not element.is_known:
        what = parameter.type or ("a pointer" if parameter.is_pointer else f"{parameter.size} bytes")
        fields = "" if parameter.is_pointer or parameter.size in _BY_SIZE else ", or give it fields"
        return f"{what}: the type is a guess{fields}"
    if parameter.is_pointer and not _is_input(parameter):
        return f"{parameter.type}; role: inout if it is read too"
    if parameter.is_pointer and not element.dtype.is_float and element.dtype.stored.itemsize >= 4:
        return f"{parameter.type}; of indices: values: {{low: 0, high: n - 1}}"
    return parameter.type


def _is_input(parameter: Parameter | Member) -> bool:
    access = parameter.access if isinstance(parameter, Parameter) else ""
    return access == "read_only" or _IS_CONST.search(parameter.type) is not None


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"\w+", name) else "'" + name.replace("'", "''") + "'"


def _source(file: KernelFile) -> str:
    """Return the text of a file, "" if it can't be read."""
    try:
        return file.file.read_text(errors="replace")
    except OSError:
        return ""
