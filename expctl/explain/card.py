"""An explained kernel as brief and ledger show it."""

from __future__ import annotations

from pathlib import Path

from expctl.check.case_file import read_case
from expctl.check.kernel_file import read_kernels
from expctl.check.places import Place
from expctl.domain.experiment.hot_loop import CountedLoop, LoopLine
from expctl.domain.text import one_line
from expctl.explain.bounds import SIMDS, simd_cycles
from expctl.explain.explained import Explained, explain
from expctl.explain.figures import Figures
from expctl.inspection.device_compiler import Options

TEXT_MAX = 120
_DECIMALS = 4


def counted_loop(assembly: Path, launch: Path | None, kernel: str, tree: Path) -> CountedLoop:
    """Return the hot loop of the `kernel` in an assembly file ("": the only one), executed as the description `launch` says, or
    as written without one. `tree` is the check-out that it was built from. Raises Refused as `explain` does.
    """
    file = read_kernels(assembly, Options(arch=""))
    found = explain(file, read_case(launch) if launch is not None else None, kernel)
    return loop_of(found, tree)


def loop_of(found: Explained, tree: Path) -> CountedLoop:
    """Return what brief and ledger show of an explained kernel. Lines without a place in a file are left out; their text is
    that of the check-out `tree`.
    """
    texts: dict[str, list[str]] = {}
    ran = found.iterations is not None
    return CountedLoop(
        kernel=found.kernel,
        is_launched=ran,
        lines=tuple(
            LoopLine(
                file=each.place.file,
                line=each.place.line,
                text=_text(texts, tree, each.place),
                instructions=_instructions(each.figures),
            )
            for each in found.lines
            if each.place is not None
        ),
        instructions=_instructions(found.total),
        registers=found.registers,
        live=found.total.live,
        simd_cycles=round(found.total.cycles, _DECIMALS) if ran else 0.0,
        lds_cycles=round(SIMDS * found.total.passes, _DECIMALS),
        matrix_cycles=round(found.total.matrix * simd_cycles("v_wmma_f32_16x16x16_f16"), _DECIMALS) if ran else 0.0,
        bounds=found.bounds,
        notes=found.notes,
    )


def _text(read: dict[str, list[str]], tree: Path, place: Place) -> str:
    if place.file not in read:
        file = (tree / place.file).resolve()
        inside = file.is_relative_to(tree.resolve()) and file.is_file()
        read[place.file] = file.read_text(errors="replace").splitlines() if inside else []
    lines = read[place.file]
    return one_line(lines[place.line - 1].strip(), TEXT_MAX) if 0 < place.line <= len(lines) else ""


def _instructions(figures: Figures) -> dict[str, float]:
    return {group.value: round(count, _DECIMALS) for group, count in figures.instructions.items() if count}
