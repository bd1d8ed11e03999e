"""Figures of a GPU build, of its worst kernel: a record keeps them, and `limits` of protocol.yaml bounds them."""

from collections.abc import Callable, Sequence

from expctl.domain.experiment.record import Fact
from expctl.inspection.model.report import KernelReport, kernel_report
from expctl.inspection.readers.code_object import CodeObject

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


def worst_of(objects: Sequence[CodeObject], only: Sequence[str] = ()) -> tuple[Fact, ...]:
    """Return the facts of all kernels in `objects`, or those named in `only`; () where there is no kernel."""
    kernels = [
        kernel_report(found.arch, each, code_bytes=each.code_bytes, body=None, code_hash=None)
        for found in objects
        for each in found.kernels
    ]
    values = {name: [value for kernel in kernels if (value := of(kernel)) is not None] for name, _, of, _ in FIGURES}
    return tuple(
        Fact(name=name, value=worst(values[name]), unit=unit)
        for name, unit, _, worst in FIGURES
        if values[name] and (not only or name in only)
    )
