"""Inspect one file, whatever its kind: HIP source, clang's assembly, or code object."""

import re
from dataclasses import replace
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.text import one_line, plain_text
from expctl.files.user_file import kernel_bytes
from expctl.inspection import device_compiler
from expctl.inspection.device_compiler import Options
from expctl.inspection.model.report import FileReport, Form, kernel_report
from expctl.inspection.readers import code_object, offload_bundle
from expctl.inspection.readers.assembly_text import AssemblyText, no_kernel, parse_assembly

DEFAULT_ARCH = "gfx1151"
SOURCES = (".hip", ".cu", ".cpp", ".cc", ".cxx", ".c++")
ASSEMBLIES = (".s", ".asm")
_KERNEL = re.compile(r"__global__|\bglobal\b")
_AMD = re.compile(r"gfx[0-9a-f]{3,4}", re.ASCII)

NEEDS_TEXT = "instruction classes and the hot loop need assembly: give the source, or the .s file of clang -S"


def inspect(path: Path, options: Options) -> FileReport:
    """Return the report on the kernels in a file. The GPU is `options.arch`, else the one that the file names, else gfx1151.
    Raises Refused for a file of an unknown kind, a damaged one, and a source that doesn't compile.
    """
    data = kernel_bytes(path)
    if options.arch and not _AMD.fullmatch(options.arch):
        raise Refused(
            f"{options.arch} is not the name of an AMD GPU",
            code="not-an-amd-gpu",
            expected="gfx and its number, for example gfx1151",
            found=options.arch,
            where="--arch",
            hint="give such a name; for NVIDIA's sm_90 use expctl occupancy",
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


def _of_source(path: Path, text: str, options: Options) -> FileReport:
    if path.suffix.lower() not in (".hip", ".cu") and not _KERNEL.search(text):
        raise no_kernel(plain_text(str(path)))
    made = device_compiler.compile_source(path, replace(options, arch=options.arch or DEFAULT_ARCH))
    return _report(path, Form.SOURCE, made.compiler, parse_assembly(made.assembly, plain_text(str(path))), made.code_object)


def _of_assembly(path: Path, text: str, options: Options) -> FileReport:
    parsed = parse_assembly(text, plain_text(str(path)))
    _check_arch(options.arch, parsed.arch, path)
    return _report(path, Form.ASSEMBLY, "", parsed, device_compiler.assemble(path, parsed.arch))


def _report(path: Path, form: Form, compiler: str, parsed: AssemblyText, elf: bytes | None) -> FileReport:
    notes: tuple[str, ...] = ()
    sizes: dict[str, int | None] = {}
    hashes: dict[str, str] = {}
    if elf is None:
        notes = ("code_hash needs the assembler: pip install 'expctl[cpu]'",)
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
    _check_arch(options.arch, parsed.arch, path)
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


def _check_arch(wanted: str, found: str, path: Path) -> None:
    if wanted not in ("", found):
        raise Refused(
            f"this file holds code for another GPU than {wanted}",
            code="file-for-another-gpu",
            expected=wanted,
            found=one_line(found),
            where=plain_text(str(path)),
            hint="leave --arch out, or give the source, which is compiled for any GPU",
        )


def _unknown(path: Path, found: str) -> Refused:
    return Refused(
        "expctl can't inspect this kind of file",
        code="not-inspectable",
        expected=f"a source ({', '.join(SOURCES)}), assembly ({', '.join(ASSEMBLIES)}) or a code object (ELF)",
        found=found,
        where=plain_text(str(path)),
        hint="rename a HIP source to .hip, assembly to .s; a code object needs no ending",
    )
