"""Recipe for target gfx1151 (or another AMD GPU) on the hardware: compiles with hipcc of an installed ROCm."""

from collections.abc import Callable, Sequence
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.experiment.record import Fact
from expctl.inspection.model.report import KernelReport, kernel_report
from expctl.inspection.readers.code_object import parse_code_object
from expctl.inspection.readers.host_library import device_code
from expctl.targets.vendor import VendorRecipe

# Name and unit of a fact, what it is of a kernel, and which value is the worst. The names are those of the static target.
FIGURES: tuple[tuple[str, str, Callable[[KernelReport], int | None], Callable[[Sequence[int]], int]], ...] = (
    ("vgpr", "", lambda kernel: kernel.vgpr, max),
    ("sgpr", "", lambda kernel: kernel.sgpr, max),
    ("lds", "B", lambda kernel: kernel.lds_bytes, max),
    ("scratch", "B", lambda kernel: kernel.scratch_bytes, max),
    ("vgpr_spills", "", lambda kernel: kernel.vgpr_spills, max),
    ("sgpr_spills", "", lambda kernel: kernel.sgpr_spills, max),
    ("occupancy", "waves per SIMD", lambda kernel: kernel.occupancy, min),
    ("code", "B", lambda kernel: kernel.code_bytes, max),
)


def device_facts(library: Path) -> tuple[Fact, ...]:
    """Return registers, LDS, scratch, spills, occupancy and code bytes of the worst kernel in a host library; () where it
    has no code for exactly one AMD GPU, or code that can't be read.
    """
    try:
        found = parse_code_object(device_code(library), str(library))
        kernels = [
            kernel_report(found.arch, each, code_bytes=each.code_bytes, body=None, code_hash=None) for each in found.kernels
        ]
    except Refused:
        return ()
    values = {name: [value for kernel in kernels if (value := of(kernel)) is not None] for name, _, of, _ in FIGURES}
    return tuple(Fact(name=name, value=worst(values[name]), unit=unit) for name, unit, _, worst in FIGURES if values[name])


HIPCC = VendorRecipe(
    program="hipcc",
    arch_option=lambda arch: f"--offload-arch={arch}",
    # Without compression, so that the figures can be read. And clang names a symbol in the GPU's code by a hash of the source's
    # path, unless it is told the ID: equal sources in two check-outs wouldn't be equal builds.
    fixed=("-shared", "-fPIC", "--no-offload-compress", "-cuid=expctl"),
    hint="install ROCm 7 or later (hipcc, rocprofv3) and put its bin folder on PATH",
    facts=device_facts,
)
