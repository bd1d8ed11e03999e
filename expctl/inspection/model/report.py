"""Facts about kernels that are known without running them, in the same form for sources, assembly and code objects."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from expctl.domain.errors import Refused
from expctl.domain.text import plain_text
from expctl.gpu.architectures import ARCHITECTURES, ModeName
from expctl.gpu.headroom import Headroom, Usage
from expctl.gpu.occupancy import Resident, architecture, occupancy
from expctl.inspection.model import instruction_mix
from expctl.inspection.model.instruction_mix import Body


class Form(StrEnum):
    """Kinds of files that `expctl inspect` reads."""

    SOURCE = "HIP source"
    ASSEMBLY = "assembly"
    CODE_OBJECT = "code object"
    PTX = "PTX"
    CUBIN = "cubin"
    TRITON_CACHE = "Triton cache"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """Resources of a kernel as the compiler recorded them; `vgpr` includes the accumulation registers (`agpr`)."""

    name: str
    vgpr: int
    agpr: int
    sgpr: int
    lds_bytes: int
    scratch_bytes: int
    vgpr_spills: int
    sgpr_spills: int
    workgroup: int
    """Most work-items of a workgroup that may be launched."""
    wave: int
    mode: ModeName
    code_bytes: int | None
    printed_occupancy: int | None
    """Waves per SIMD that the compiler wrote beside the code; None if it did not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelReport:
    """Resources, occupancy and instructions of one kernel; `notes` say why a figure is None.

    `occupancy` is LLVM's waves per SIMD; `limiter` and `headroom` are about that figure. `resident` tells how many whole
    workgroups fit on a unit. `instructions` and `hot_loop` are counts by class, None without assembly. On NVIDIA's GPUs `vgpr`
    are registers of a thread, `lds_bytes` shared memory and `scratch_bytes` local memory; `vgpr` is None for PTX.
    """

    name: str
    vgpr: int | None
    agpr: int
    sgpr: int
    lds_bytes: int
    scratch_bytes: int
    spills: int
    vgpr_spills: int
    sgpr_spills: int
    code_bytes: int | None
    occupancy: int | None
    limiter: str | None
    headroom: Headroom | None
    resident: tuple[Resident, ...]
    naive_percent: float | None
    workgroup: int
    wave: int
    mode: str
    instructions: Mapping[str, int] | None
    hot_loop: Mapping[str, int] | None
    hot_loop_lines: tuple[int, int] | None
    code_hash: str | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """Reports on all kernels in a file; `compiler` is "" if the file didn't have to be compiled."""

    file: str
    form: Form
    arch: str
    compiler: str
    kernels: tuple[KernelReport, ...]
    notes: tuple[str, ...]


def kernel_report(
    arch: str, resources: Resources, *, code_bytes: int | None, body: Body | None, code_hash: str | None
) -> KernelReport:
    """Return the report on one kernel: occupancy is computed from its resources, instructions are counted in `body`. `body` is
    the kernel's assembly, None if there is none.
    """
    remarks: list[str] = []
    found = None
    if arch in ARCHITECTURES:
        gpu = architecture(arch, resources.wave)
        usage = Usage(
            vgpr=resources.vgpr, sgpr=resources.sgpr, lds_bytes=resources.lds_bytes, workgroup=min(resources.workgroup, 1024)
        )
        try:
            found = occupancy(gpu, usage, resources.mode)
        except Refused as refusal:
            remarks.append(f"no occupancy: {refusal.expected}, found {refusal.found}")
    else:
        remarks.append(f"no occupancy figures for {arch}")
    printed = resources.printed_occupancy
    if found is not None and printed is not None and printed != found.waves_per_simd:
        remarks.append(f"the compiler itself printed occupancy {printed}: it may have taken smaller workgroups into account")
    in_loop = instruction_mix.hot_loop(body) if body is not None else ()
    return KernelReport(
        name=resources.name,
        vgpr=resources.vgpr,
        agpr=resources.agpr,
        sgpr=resources.sgpr,
        lds_bytes=resources.lds_bytes,
        scratch_bytes=resources.scratch_bytes,
        spills=resources.vgpr_spills + resources.sgpr_spills,
        vgpr_spills=resources.vgpr_spills,
        sgpr_spills=resources.sgpr_spills,
        code_bytes=code_bytes,
        occupancy=found.waves_per_simd if found else None,
        limiter=found.limiter if found else None,
        headroom=found.headroom if found else None,
        resident=found.resident if found else (),
        naive_percent=found.naive_percent if found else None,
        workgroup=resources.workgroup,
        wave=resources.wave,
        mode=resources.mode.value,
        instructions=instruction_mix.counts(body.statements) if body is not None else None,
        hot_loop=instruction_mix.counts(in_loop) if in_loop else None,
        hot_loop_lines=(in_loop[0].line, in_loop[-1].line) if in_loop else None,
        code_hash=code_hash,
        notes=tuple(remarks),
    )


def unassembled_report(
    name: str, *, lds_bytes: int, workgroup: int, instructions: Mapping[str, int], code_hash: str
) -> KernelReport:
    """Return the report on a kernel of PTX, whose registers are still to be assigned."""
    return KernelReport(
        name=name,
        vgpr=None,
        agpr=0,
        sgpr=0,
        lds_bytes=lds_bytes,
        scratch_bytes=0,
        spills=0,
        vgpr_spills=0,
        sgpr_spills=0,
        code_bytes=None,
        occupancy=None,
        limiter=None,
        headroom=None,
        resident=(),
        naive_percent=None,
        workgroup=workgroup,
        wave=32,
        mode=ModeName.SM.value,
        instructions=instructions,
        hot_loop=None,
        hot_loop_lines=None,
        code_hash=code_hash,
        notes=(),
    )


def select(report: FileReport, name: str) -> FileReport:
    """Return the report with only the kernel `name`; if no kernel has that name, with all whose names contain it. Raises
    Refused if there is none.
    """
    exact = tuple(each for each in report.kernels if each.name == name)
    kept = exact or tuple(each for each in report.kernels if name in each.name)
    if not kept:
        raise Refused(
            f"{report.file} has no kernel {name}",
            code="kernel-not-in-file",
            expected=plain_text("one of " + ", ".join(each.name for each in report.kernels)),
            found=plain_text(name),
            where=plain_text(report.file),
            hint="leave --kernel out to see all of them",
        )
    return replace(report, kernels=kept)
