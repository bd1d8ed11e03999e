"""Inspect one file, whatever its kind: HIP source, assembly, PTX, code object, cubin; or a cache folder of Triton."""

import re
from dataclasses import replace
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.text import plain_text
from expctl.files.user_file import kernel_bytes
from expctl.inspection import device_compiler
from expctl.inspection.device_compiler import Options
from expctl.inspection.model.report import FileReport, Form, kernel_report, unassembled_report
from expctl.inspection.readers import code_object, offload_bundle
from expctl.inspection.readers.assembly_text import AssemblyText, no_kernel, parse_assembly
from expctl.inspection.readers.cache_report import check_arch, of_cache
from expctl.inspection.readers.cubin import is_cubin, parse_cubin
from expctl.inspection.readers.ptx_text import parse_ptx

DEFAULT_ARCH = "gfx1151"
SOURCES = (".hip", ".cu", ".cpp", ".cc", ".cxx", ".c++")
TRITON_ASSEMBLY = ".amdgcn"
ASSEMBLIES = (".s", ".asm", TRITON_ASSEMBLY)
PTX = ".ptx"
_KERNEL = re.compile(r"__global__|\bglobal\b")
_AMD = re.compile(r"gfx[0-9a-f]{3,4}", re.ASCII)

NEEDS_ASSEMBLER = "code_hash needs the assembler: pip install 'expctl[cpu]'"
NEEDS_HSACO = "code_hash needs the .hsaco file of the same name beside this one"
NEEDS_PTXAS = "PTX names virtual registers: give the cubin for registers, occupancy and the hash of machine code"
NEEDS_TEXT = "instruction classes and the hot loop need assembly: give the source, or the .s file of clang -S"


def inspect(path: Path, options: Options) -> FileReport:
    """Return the report on the kernels in a file, or in a cache folder of Triton. The GPU is `options.arch`, else the one
    that the file names, else gfx1151. Raises Refused for an unknown kind, a damaged file, a source that doesn't compile.
    """
    if path.is_dir():
        return of_cache(path, options.arch)
    data = kernel_bytes(path)
    if is_cubin(data):
        return _of_cubin(path, data, options)
    if path.suffix.lower() == PTX and b"\0" not in data:
        return _of_ptx(path, data.decode(errors="surrogateescape"), options)
    if options.arch and not _AMD.fullmatch(options.arch):
        raise Refused(
            f"{options.arch} is not the name of an AMD GPU",
            code="not-an-amd-gpu",
            expected="gfx and its number, for example gfx1151",
            found=options.arch,
            where="--arch",
            hint="give such a name; sm_90 and its like are for PTX, cubins and caches of Triton",
        )
    if data.startswith(b"\x7fELF") or offload_bundle.is_bundle(data):
        return _of_code_object(path, data, options)
    if b"\0" in data:
        raise _unknown(path, "a binary file that is neither ELF nor an offload bundle")
    if path.suffix.lower() in ASSEMBLIES:
        return _of_assembly(path, data.decode(errors="surrogateescape"), options)
    if path.suffix.lower() in SOURCES:
        return _of_source(path, data.decode(errors="surrogateescape"), options)
    raise _unknown(path, f"the ending {plain_text(path.suffix)}" if path.suffix else "a name without an ending")


def _of_cubin(path: Path, data: bytes, options: Options) -> FileReport:
    parsed = parse_cubin(data, plain_text(str(path)))
    check_arch(options.arch, parsed.arch, path)
    pairs = zip(parsed.kernels, parsed.hashes, strict=True)
    kernels = (
        kernel_report(parsed.arch, each, code_bytes=each.code_bytes, body=None, code_hash=found) for each, found in pairs
    )
    note = ("instruction classes need PTX: give the .ptx file",)
    return FileReport(file=str(path), form=Form.CUBIN, arch=parsed.arch, compiler="", kernels=tuple(kernels), notes=note)


def _of_ptx(path: Path, text: str, options: Options) -> FileReport:
    arch, kernels = parse_ptx(text, plain_text(str(path)))
    check_arch(options.arch, arch, path)
    reports = tuple(
        unassembled_report(
            each.name,
            lds_bytes=each.shared_bytes,
            workgroup=each.threads,
            instructions=each.instructions,
            code_hash=each.code_hash,
        )
        for each in kernels
    )
    return FileReport(file=str(path), form=Form.PTX, arch=arch, compiler="", kernels=reports, notes=(NEEDS_PTXAS,))


def _of_source(path: Path, text: str, options: Options) -> FileReport:
    if path.suffix.lower() not in (".hip", ".cu") and not _KERNEL.search(text):
        raise no_kernel(plain_text(str(path)))
    made = device_compiler.compile_source(path, replace(options, arch=options.arch or DEFAULT_ARCH))
    return _report(path, Form.SOURCE, made.compiler, parse_assembly(made.assembly, plain_text(str(path))), made.code_object)


def _of_assembly(path: Path, text: str, options: Options) -> FileReport:
    parsed = parse_assembly(text, plain_text(str(path)))
    check_arch(options.arch, parsed.arch, path)
    if path.suffix.lower() != TRITON_ASSEMBLY:
        return _report(path, Form.ASSEMBLY, "", parsed, device_compiler.assemble(path, parsed.arch), NEEDS_ASSEMBLER)
    beside = path.with_suffix(".hsaco")  # Triton's LLVM may be newer than any assembler here
    return _report(path, Form.ASSEMBLY, "", parsed, kernel_bytes(beside) if beside.is_file() else None, NEEDS_HSACO)


def _report(path: Path, form: Form, compiler: str, parsed: AssemblyText, elf: bytes | None, without: str = "") -> FileReport:
    """Return the report on assembly; `elf` is the object of the same code, `without` the note for a file that has none."""
    notes: tuple[str, ...] = ()
    sizes: dict[str, int | None] = {}
    hashes: dict[str, str] = {}
    if elf is None:
        notes = (without,)
    else:
        coded = code_object.parse_code_object(elf, plain_text(str(path)))
        sizes = {kernel.name: kernel.code_bytes for kernel in coded.kernels}
        hashes = {kernel.name: found for kernel, found in zip(coded.kernels, coded.hashes, strict=True)}
    return FileReport(
        file=str(path),
        form=form,
        arch=parsed.arch,
        compiler=compiler,
        kernels=tuple(
            kernel_report(
                parsed.arch,
                resources,
                code_bytes=sizes.get(resources.name, resources.code_bytes),
                body=body,
                code_hash=hashes.get(resources.name),
            )
            for resources, body in zip(parsed.kernels, parsed.bodies, strict=True)
        ),
        notes=notes,
    )


def _of_code_object(path: Path, data: bytes, options: Options) -> FileReport:
    if offload_bundle.is_bundle(data):
        data = offload_bundle.device_entry(data, options.arch, plain_text(str(path)))
    parsed = code_object.parse_code_object(data, plain_text(str(path)))
    check_arch(options.arch, parsed.arch, path)
    return FileReport(
        file=str(path),
        form=Form.CODE_OBJECT,
        arch=parsed.arch,
        compiler="",
        kernels=tuple(
            kernel_report(parsed.arch, resources, code_bytes=resources.code_bytes, body=None, code_hash=found)
            for resources, found in zip(parsed.kernels, parsed.hashes, strict=True)
        ),
        notes=(NEEDS_TEXT,),
    )


def _unknown(path: Path, found: str) -> Refused:
    return Refused(
        "expctl can't inspect this kind of file",
        code="not-inspectable",
        expected=f"a source ({', '.join(SOURCES)}), assembly ({', '.join(ASSEMBLIES)}), PTX ({PTX}), or a code object or cubin",
        found=found,
        where=plain_text(str(path)),
        hint="rename a HIP source to .hip, assembly to .s; a code object needs no ending",
    )
