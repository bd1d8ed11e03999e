"""The report on a cache folder of Triton, kernel by kernel."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.text import one_line, plain_text
from expctl.inspection.model.instruction_mix import Body
from expctl.inspection.model.report import FileReport, Form, KernelReport, kernel_report
from expctl.inspection.readers.assembly_text import parse_assembly
from expctl.inspection.readers.ptx_text import parse_ptx
from expctl.inspection.readers.triton_cache import CompiledKernel, compiled_kernels, no_kernels


def of_cache(folder: Path, arch: str) -> FileReport:
    """Return the report on the kernels that Triton compiled into `folder`, those for the GPU `arch` ("": of the only GPU).
    Raises Refused if there is none, or there are kernels of several GPUs.
    """
    where = plain_text(str(folder))
    all_found = [(kernel, kernel.parsed().arch) for kernel in compiled_kernels(folder)]
    archs = sorted({each for _, each in all_found})
    if not all_found:
        raise no_kernels(where)
    if not arch and len(archs) > 1:
        raise Refused(
            "this folder has kernels for several GPUs",
            code="several-gpus",
            expected="kernels for one GPU, or --arch",
            found=", ".join(archs),
            where=where,
            hint=f"expctl inspect {where} --arch {archs[0]}",
        )
    check_arch(arch, arch if arch in archs else archs[0], folder)
    chosen = [kernel for kernel, each in all_found if each == (arch or archs[0])]
    return FileReport(
        file=str(folder),
        form=Form.TRITON_CACHE,
        arch=arch or archs[0],
        compiler="",
        kernels=_numbered([_report(each, arch or archs[0]) for each in chosen]),
        notes=(),
    )


def check_arch(wanted: str, found: str, path: Path) -> None:
    """Raise Refused unless `wanted` is the GPU `found`, that of the file, or empty."""
    if wanted not in ("", found):
        raise Refused(
            f"this file holds code for another GPU than {wanted}",
            code="file-for-another-gpu",
            expected=wanted,
            found=one_line(found),
            where=plain_text(str(path)),
            hint="leave --arch out, or give the source, which is compiled for any GPU",
        )


def _report(kernel: CompiledKernel, arch: str) -> KernelReport:
    found = kernel.parsed()
    at = next((index for index, each in enumerate(found.kernels) if each.name == kernel.name), 0)
    resources = replace(found.kernels[at], lds_bytes=kernel.shared_bytes, workgroup=max(1, kernel.threads))
    is_ptx = kernel.text is not None and kernel.text.suffix == ".ptx"
    body = None if is_ptx else _body(kernel)
    report = kernel_report(arch, resources, code_bytes=resources.code_bytes, body=body, code_hash=found.hashes[at])
    if not is_ptx or kernel.text is None:
        return report
    _, entries = parse_ptx(kernel.text.read_text(errors="surrogateescape"), str(kernel.text))
    named = [each.instructions for each in entries if each.name == kernel.name]
    return replace(report, instructions=named[0] if named else None)


def _body(kernel: CompiledKernel) -> Body | None:
    if kernel.text is None:
        return None
    parsed = parse_assembly(kernel.text.read_text(errors="surrogateescape"), str(kernel.text))
    named = [body for body, each in zip(parsed.bodies, parsed.kernels, strict=True) if each.name == kernel.name]
    return named[0] if named else None


def _numbered(reports: list[KernelReport]) -> tuple[KernelReport, ...]:
    """Return the reports; where Triton compiled one kernel several times, its name gets the number of the compilation."""
    often, seen = Counter(each.name for each in reports), Counter[str]()
    named = []
    for each in reports:
        seen[each.name] += 1
        named.append(replace(each, name=f"{each.name} #{seen[each.name]}") if often[each.name] > 1 else each)
    return tuple(named)
