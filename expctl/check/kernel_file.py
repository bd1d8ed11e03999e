"""Read a file's kernels: their assembly text, names and parameters. A source is compiled first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from expctl.check.demangled_name import FunctionName, demangled
from expctl.check.family import WAVE, check_target, check_waves, difference
from expctl.check.type_names import numbers_of
from expctl.domain.errors import Refused
from expctl.domain.run.step_result import Unavailable
from expctl.domain.text import plain_text
from expctl.files.user_file import kernel_bytes
from expctl.inspection import device_compiler, tool_versions
from expctl.inspection.device_compiler import Options
from expctl.inspection.readers import lds_layout, offload_bundle
from expctl.inspection.readers.assembly_text import metadata_of, parse_assembly
from expctl.inspection.readers.cache_report import check_arch
from expctl.inspection.readers.code_object import parse_code_object
from expctl.inspection.readers.lds_layout import LdsVariable
from expctl.inspection.readers.parameter_types import Member, ParameterType, parameter_types
from expctl.inspection.readers.read_file import ASSEMBLIES, DEFAULT_ARCH, SOURCES

_COERCED = ".coerce"  # of a pointer that clang takes to be one to global memory
_DESCRIPTOR = re.compile(r"^\s*\.amdhsa_kernel\s+(\S+)\s*$(.*?)\.end_amdhsa_kernel", re.M | re.S)
_WORKITEM_ID = re.compile(r"_vgpr_workitem_id\s+([012])\b")
_WORKGROUP_ID = re.compile(r"_sgpr_workgroup_id_([yz])\s+1\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a kernel. `name` and `type` are "" where the file doesn't say; `size` is in bytes. `access` is
    read_only, write_only or "". `members` are those of a struct that is passed by value, where the file tells them.
    """

    name: str
    type: str
    size: int
    is_pointer: bool
    access: str = ""
    members: tuple[Member, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A kernel: its symbol, its C++ name, its parameters, the most threads of a block."""

    symbol: str
    cpp_name: FunctionName
    parameters: tuple[Parameter, ...]
    most_threads: int
    needs_block: tuple[int, ...] = ()
    """The block that the source asks for, empty if any is allowed."""
    axes: int = 1
    """How many of a thread's x, y, z the kernel reads; 1 where there is no assembly text."""
    group_axes: int = 1
    """How many of a workgroup's x, y, z the kernel reads; 1 where there is no assembly text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFile:
    """A file's kernels, and the assembly text of all of them: "" for a code object, which has none. `notes` say what is
    otherwise than on a GPU.
    """

    file: Path
    arch: str
    compiler: str
    assembly: str
    kernels: tuple[Signature, ...]
    options: Options | None = None
    """How it was compiled, None if it was not."""
    notes: tuple[str, ...] = ()
    code: bytes = b""
    """The code object, where there is no text."""


def read_kernels(path: Path, options: Options) -> KernelFile:
    """Read a source, assembly or code object. Raises Refused for another kind of file, a GPU whose code isn't interpreted,
    waves of 64 lanes, a damaged file, a source that doesn't compile, and without numpy.
    """
    _need_numpy()
    data = kernel_bytes(path)
    if data.startswith(b"\x7fELF") or offload_bundle.is_bundle(data):
        return _of_code_object(path, data, options)
    if b"\0" not in data and path.suffix.lower() in SOURCES:
        options = replace(options, arch=options.arch or DEFAULT_ARCH)
        check_target(options.arch, "--arch")
        compiler, assembly, said = device_compiler.assembly_with_lines(path, options)
        read = _of_text(path, assembly, compiler)
        return replace(read, options=options, notes=(*read.notes, *said))
    if b"\0" not in data and path.suffix.lower() in ASSEMBLIES:
        return _of_file(path, data, options)
    ending = f"the ending {plain_text(path.suffix)}" if path.suffix else "a name without an ending"
    raise Refused(
        "expctl can't check this kind of file",
        code="not-checkable",
        expected=f"a source ({', '.join(SOURCES)}), assembly ({', '.join(ASSEMBLIES)}) or a code object for an AMD GPU",
        found="binary data that is neither ELF nor an offload bundle" if b"\0" in data else ending,
        where=plain_text(str(path)),
        hint="rename a HIP source to .hip, assembly to .s",
    )


def named(file: KernelFile, name: str) -> Signature:
    """Return the kernel called `name`: by its symbol, its C++ name, or that without template arguments and namespaces; "" is
    the only one. Raises Refused unless exactly one fits.
    """
    ways = (lambda each: each.symbol, lambda each: str(each.cpp_name), lambda each: each.cpp_name.name, short_name)
    fitting: list[Signature] = [] if name else list(file.kernels)
    for way in ways:
        fitting = fitting or [each for each in file.kernels if way(each) == name]
    if len(fitting) == 1:
        return typed(file, fitting[0])
    raise Refused(
        f"no kernel is called {plain_text(name)}"
        if name and not fitting
        else "the file has several kernels that could be meant",
        code="kernel-not-named",
        expected=plain_text("one of " + "; ".join(str(each.cpp_name) for each in file.kernels)),
        found=plain_text(name) or "no name",
        where=plain_text(str(file.file)),
        hint=plain_text(f"--kernel '{(fitting or file.kernels)[0].cpp_name.name}', or kernel: in the description"),
    )


def typed(file: KernelFile, kernel: Signature) -> Signature:
    """Return `kernel` with what the symbol doesn't tell of its parameters: the types of a C function's, members of structs. The
    source tells them, or the debugging information of assembly and code objects.
    """
    kernel = _declared(file, kernel)
    if all(each.type and (each.is_pointer or numbers_of(each.type)) for each in kernel.parameters):
        return kernel
    known = parameter_types(_with_debug_info(file), kernel.symbol)
    if len(known) != len(kernel.parameters):
        return kernel
    parameters = tuple(_described(each, found) for each, found in zip(kernel.parameters, known, strict=True))
    return replace(kernel, cpp_name=_completed(kernel, tuple(each.type for each in parameters)), parameters=parameters)


def lds_variables(file: KernelFile, kernel: Signature) -> tuple[LdsVariable, ...]:
    """Return where the variables of `kernel` lie in LDS; empty where its file was not compiled here."""
    if file.options is None:
        return ()
    return lds_layout.lds_variables(device_compiler.lds_layout(file.file, file.options), kernel.symbol)


def _declared(file: KernelFile, kernel: Signature) -> Signature:
    if kernel.cpp_name.parameters is not None or file.options is None:
        return kernel
    types = device_compiler.declared_types(file.file, file.options, kernel.symbol)
    if len(types) != len(kernel.parameters):
        return kernel
    parameters = (replace(each, type=name) for each, name in zip(kernel.parameters, types, strict=True))
    return replace(kernel, cpp_name=_completed(kernel, types), parameters=tuple(parameters))


def _described(parameter: Parameter, found: ParameterType) -> Parameter:
    type_name = parameter.type or found.type
    members = () if parameter.is_pointer or numbers_of(type_name) else found.members
    return replace(parameter, name=parameter.name or found.name, type=type_name, members=members)


def _completed(kernel: Signature, types: tuple[str, ...]) -> FunctionName:
    name = kernel.cpp_name
    return replace(name, parameters=types) if name.parameters is None else name


def _with_debug_info(file: KernelFile) -> bytes:
    """Return an ELF file that may have debugging information of the kernels; empty if there is none."""
    if file.options is not None:
        return device_compiler.object_with_types(file.file, file.options)
    if ".debug_info" in file.assembly:
        return device_compiler.assemble(file.file, file.arch) or b""
    return file.code


def short_name(kernel: Signature) -> str:
    """Return a kernel's C++ name without namespaces and template arguments."""
    return kernel.cpp_name.name.split("<")[0].rsplit("::", 1)[-1]


def text_of(file: KernelFile) -> str:
    """Return the assembly text of a file. Raises Refused for a code object without one."""
    if file.assembly:
        return file.assembly
    raise Refused(
        "a code object can't be interpreted: there is no disassembler here",
        code="code-object-without-text",
        expected="its assembly, as NAME.s or NAME.amdgcn beside it",
        found="machine code alone",
        where=plain_text(str(file.file)),
        hint="give the source, or the text that clang -S or Triton wrote",
    )


def _need_numpy() -> None:
    here = tool_versions.packages("numpy", extra="cpu")
    if isinstance(here, Unavailable):
        raise Refused(
            "the interpreter computes with numpy, and it is not installed",
            code="numpy-not-installed",
            expected="numpy for this Python",
            found=here.reason,
            hint=here.hint,
        )


def _of_file(path: Path, data: bytes, options: Options) -> KernelFile:
    """Read assembly that was not compiled here: LLVM's assembler has to know its instructions on the GPU that it names."""
    read = _of_text(path, data.decode(errors="surrogateescape"), "")
    check_arch(options.arch, read.arch, path)
    if difference(read.arch):
        device_compiler.assemble(path, read.arch)
    return read


def _of_text(path: Path, text: str, compiler: str) -> KernelFile:
    where = plain_text(str(path))
    parsed = parse_assembly(text, where)
    check_target(parsed.arch, where)
    entries = {str(entry.get(".name", "")): entry for entry in metadata_of(text, where)}
    axes = {found[1]: _axes(found[2]) for found in _DESCRIPTOR.finditer(text)}
    kernels = tuple(_signature(entries[each.name], where, *axes.get(each.name, (1, 1))) for each in parsed.kernels)
    notes = (difference(parsed.arch),) if difference(parsed.arch) else ()
    return KernelFile(file=path, arch=parsed.arch, compiler=compiler, assembly=text, kernels=kernels, notes=notes)


def _axes(descriptor: str) -> tuple[int, int]:
    """Return how many axes of a thread and of a workgroup a kernel reads."""
    thread = _WORKITEM_ID.search(descriptor)
    groups = ("xyz".index(axis) + 1 for axis in _WORKGROUP_ID.findall(descriptor))
    return int(thread[1]) + 1 if thread else 1, max(groups, default=1)


def _of_code_object(path: Path, data: bytes, options: Options) -> KernelFile:
    """Read a code object's kernels; their text is that of the .amdgcn or .s file beside it, as Triton's cache has it."""
    where = plain_text(str(path))
    beside = next((file for ending in (".amdgcn", ".s") if (file := path.with_suffix(ending)).is_file()), None)
    if beside is not None:
        return _of_file(beside, kernel_bytes(beside), options)
    if offload_bundle.is_bundle(data):
        data = offload_bundle.device_entry(data, options.arch, where)
    parsed = parse_code_object(data, where)
    check_target(parsed.arch, where)
    kernels = tuple(_signature(entry, where) for entry in parsed.entries)
    return KernelFile(file=path, arch=parsed.arch, compiler="", assembly="", kernels=kernels, code=data)


def _signature(entry: Mapping[str, Any], where: str, axes: int = 1, group_axes: int = 1) -> Signature:
    symbol = str(entry[".name"])
    cpp_name = demangled(symbol)
    check_waves(int(entry.get(".wavefront_size", WAVE)), plain_text(cpp_name.name), where)
    visible = [each for each in entry.get(".args", []) if not str(each.get(".value_kind")).startswith("hidden_")]
    types = cpp_name.parameters or ()
    if len(types) != len(visible):
        types = ("",) * len(visible)
    return Signature(
        symbol=symbol,
        cpp_name=cpp_name,
        parameters=tuple(_parameter(each, type_name) for each, type_name in zip(visible, types, strict=True)),
        most_threads=int(entry.get(".max_flat_workgroup_size", 1024)),
        needs_block=tuple(int(each) for each in entry.get(".reqd_workgroup_size", ())),
        axes=axes,
        group_axes=group_axes,
    )


def _parameter(entry: Mapping[str, Any], type_name: str) -> Parameter:
    return Parameter(
        name=str(entry.get(".name", "")).removesuffix(_COERCED),
        type=type_name,
        size=int(entry.get(".size", 0)),
        is_pointer=entry.get(".value_kind") != "by_value",
        access=str(entry.get(".actual_access", "")),
    )
