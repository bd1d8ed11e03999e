"""Explain one kernel of a file: its hot loop by line of the source, as written or as a launch executes it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from expctl.check.case import refusal
from expctl.check.case_file import Description
from expctl.check.kernel_file import KernelFile, Signature, named, text_of
from expctl.check.places import Place, Places
from expctl.check.resolved import BadShapes
from expctl.check.runner import KernelRunner
from expctl.domain.text import plain_text
from expctl.explain.bounds import bounds_of, simd_cycles
from expctl.explain.figures import Figures, Line, group_of, sum_of
from expctl.explain.hot_loop import HotLoop, hot_loop
from expctl.explain.liveness import live_halves
from expctl.explain.registers import registers_in
from expctl.gfx11.launch import Interpretation
from expctl.gfx11.machine.counts import Traffic
from expctl.inspection.model.instruction_mix import Body
from expctl.inspection.readers.assembly_text import parse_assembly

_IDENT = re.compile(r'^\s*\.ident\s+"(.*)"', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """The hot loop of a kernel. `total` and `lines` are per iteration and wave where the kernel was launched, else as written.

    `iterations` are those of all waves together, None where nothing was launched; `share_percent` is the loop's part of all
    instructions executed. `bounds` are sentences: what bounds the loop, and what no order of its accesses would better.
    """

    file: str
    kernel: str
    symbol: str
    arch: str
    compiler: str
    made_by: str
    """What wrote the assembly, in its own words; "" where it doesn't say."""
    registers: int
    """Vector registers that the kernel takes."""
    is_loop: bool
    """False where no loop was found or run: the whole kernel is explained, and an iteration is a wave."""
    statements: int
    """Instructions of the loop, as written."""
    assembly_lines: tuple[int, int]
    """First and last line of the loop in the assembly."""
    shapes: Mapping[str, int] = field(default_factory=dict)
    iterations: int | None = None
    waves: int | None = None
    share_percent: float | None = None
    total: Figures
    per_matrix: Figures | None
    """`total` for each matrix instruction; None without any."""
    lines: tuple[Line, ...]
    bounds: tuple[str, ...]
    notes: tuple[str, ...] = ()


def explain(file: KernelFile, description: Description | None, kernel: str = "", seed: int = 0) -> Explained:
    """Explain one kernel of a file, launched once at the described shapes, or as written without a description. Raises Refused
    for a kernel that can't be chosen or has no text, a description that doesn't fit, and code that can't be interpreted.
    """
    signature = named(file, kernel or (description.case.kernel if description else ""))
    text = text_of(file)
    parsed = parse_assembly(text, plain_text(str(file.file)))
    index = [each.name for each in parsed.kernels].index(signature.symbol)
    body = parsed.bodies[index]
    run = _launched(file, description, signature, seed) if description else None
    executed = _executed(body, run) if run else None
    loop = hot_loop(body, executed)
    lines = _lines(body, loop, Places(text, file.file), executed, run.counts.traffic if run else {})
    total = sum_of(each.figures for each in lines)
    members = [body.statements[index].line for index in sorted(loop.members)]
    return Explained(
        file=plain_text(str(file.file)),
        kernel=str(signature.cpp_name),
        symbol=signature.symbol,
        arch=file.arch,
        compiler=file.compiler,
        made_by=plain_text(ident[1]) if (ident := _IDENT.search(text)) else "",
        registers=parsed.kernels[index].vgpr,
        is_loop=loop.is_loop,
        statements=len(members),
        assembly_lines=(min(members), max(members)),
        shapes=description.case.shapes if description else {},
        iterations=executed[loop.header] if executed else None,
        waves=executed[0] if executed else None,
        share_percent=100 * sum(executed[at] for at in loop.members) / sum(run.counts.executed) if executed and run else None,
        total=total,
        per_matrix=total.per(total.matrix) if total.matrix else None,
        lines=lines,
        bounds=tuple(bounds_of(total, lines, file.arch)) if run else (),
        notes=tuple(_notes(body, loop, run)),
    )


def _launched(file: KernelFile, description: Description, signature: Signature, seed: int) -> Interpretation:
    runner = KernelRunner(file, description, signature, seed)
    try:
        return runner.interpreted(description.case.shapes)
    except BadShapes as error:
        raise refusal(error.problems, description.where, description.line) from error


def _executed(body: Body, run: Interpretation) -> list[int]:
    """Return for each statement how often waves executed it."""
    times = {each.line: count for each, count in zip(run.counts.program.instructions, run.counts.executed, strict=True)}
    return [times.get(each.line, 0) for each in body.statements]


def _lines(
    body: Body, loop: HotLoop, places: Places, executed: Sequence[int] | None, traffic: Mapping[int, Traffic]
) -> tuple[Line, ...]:
    """Return the lines of the source that a loop's instructions came from, in the order of files and lines."""
    live = live_halves(body)
    iterations = executed[loop.header] if executed else 1
    found: dict[tuple[str, int], tuple[Place | None, list[Figures]]] = {}
    for index in sorted(loop.members):
        statement, times = body.statements[index], executed[index] if executed else 1
        place = places.of(statement.line)
        moved = traffic.get(statement.line, Traffic())
        figures = Figures(
            instructions={group_of(statement.mnemonic): times},
            live=registers_in(live[index]),
            cycles=times * simd_cycles(statement.mnemonic),
            passes=moved.lds_passes,
            passes_least=moved.lds_least,
            lines=moved.lines,
            lines_least=moved.lines_least,
        )
        key = (place.file, place.line) if place else ("", 0)
        found.setdefault(key, (place, []))[1].append(figures.per(iterations))
    return tuple(
        Line(place=place, figures=sum_of(parts)) for _, (place, parts) in sorted(found.items(), key=lambda item: item[0])
    )


def _notes(body: Body, loop: HotLoop, run: Interpretation | None) -> list[str]:
    notes = []
    if not loop.is_loop:
        notes.append(
            "No loop was run: the whole kernel is shown, for each wave." if run else "The kernel has no loop: all is shown."
        )
    if any(body.statements[index].mnemonic.startswith("s_swappc") for index in loop.members):
        notes.append("Functions that it calls are not in these figures, and registers that they need are not counted as live.")
    if run and run.faults:
        notes.append(
            f"The launch has {len(run.faults)} faults, expctl check shows them: the figures may be those of a wrong kernel."
        )
    return notes
