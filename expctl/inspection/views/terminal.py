"""The inspection of a kernel file as text: each kernel's figures and instruction counts, or those of two builds compared."""

from collections.abc import Sequence

from expctl.domain.layout import cut_middle
from expctl.domain.text import one_line, plain_text
from expctl.gpu.architectures import ModeName
from expctl.inspection.model.change import Change, InspectionChange, KernelChange
from expctl.inspection.model.report import FileReport, KernelReport
from expctl.inspection.views.occupancy import headroom_phrase, resident_lines

HASH_SHOWN = 16
NAME_MAX = 200
SAME_CODE = {True: "machine code unchanged", False: "machine code differs", None: "machine code not compared"}


def report_lines(report: FileReport, width: int = 0) -> list[str]:
    """Return the report on an inspected file as lines of text: what the file is, each of its kernels, notes. Names of kernels
    fit into `width` columns, unless it is 0.
    """
    by = f", {one_line(report.compiler)}" if report.compiler else ""
    lines = [f"{one_line(report.file)}  {report.form} for {one_line(report.arch)}{by}"]
    for kernel in report.kernels:
        lines += ["", *_kernel_lines(kernel, width or NAME_MAX)]
    return [*lines, *(["", *(f"note  {one_line(note)}" for note in report.notes)] if report.notes else [])]


def change_lines(change: InspectionChange, width: int = 0) -> list[str]:
    """Return the comparison of two inspected files as lines of text: both files, and the figures of each pair of kernels. Names
    of kernels fit into `width` columns, unless it is 0.
    """
    lines = [
        f"a  {one_line(change.a.file)}  {change.a.form} for {one_line(change.a.arch)}",
        f"b  {one_line(change.b.file)}  {change.b.form} for {one_line(change.b.arch)}",
    ]
    for kernel in change.kernels:
        lines += ["", *_pair_lines(kernel, width or NAME_MAX)]
    for side, names in (("a", change.only_in_a), ("b", change.only_in_b)):
        lines += [f"only in {side}  {cut_middle(plain_text(name), (width or NAME_MAX) - 11)}" for name in names]
    return lines


def _kernel_lines(kernel: KernelReport, width: int) -> list[str]:
    agpr = f" ({kernel.agpr} of them accumulation)" if kernel.agpr else ""
    spills = f"{kernel.spills} ({kernel.vgpr_spills} vgpr, {kernel.sgpr_spills} sgpr)" if kernel.spills else "0"
    code = "unknown" if kernel.code_bytes is None else f"{kernel.code_bytes} B"
    code += f", hash {kernel.code_hash[:HASH_SHOWN]}" if kernel.code_hash else ""
    if kernel.mode == ModeName.SM:
        lines = _nvidia_lines(kernel, code, width)
    else:
        lines = [
            cut_middle(plain_text(kernel.name), width),
            f"  {'registers':<9} vgpr {kernel.vgpr}{agpr}, sgpr {kernel.sgpr}; spills {spills}, "
            f"scratch {kernel.scratch_bytes} B",
            f"  {'LDS':<9} {kernel.lds_bytes} B per workgroup of at most {kernel.workgroup}, waves of {kernel.wave}",
            f"  {'code':<9} {code}",
        ]
    if kernel.occupancy is not None and kernel.headroom is not None:
        by = "warps per scheduler" if kernel.mode == ModeName.SM else f"LLVM, {kernel.mode} mode"
        lines.append(
            f"  {'occupancy':<9} {kernel.occupancy} waves per SIMD ({by}), limited by {kernel.limiter}; "
            f"{headroom_phrase(kernel.headroom)}"
        )
        lines += [f"  {line}" for line in resident_lines(kernel.resident, kernel.naive_percent)]
    return [*lines, *_mix_lines(kernel), *(f"  {'note':<9} {one_line(note)}" for note in kernel.notes)]


def _nvidia_lines(kernel: KernelReport, code: str, width: int) -> list[str]:
    registers = "unknown until ptxas assigns them" if kernel.vgpr is None else f"{kernel.vgpr} per thread"
    return [
        cut_middle(plain_text(kernel.name), width),
        f"  {'registers':<9} {registers}; local memory {kernel.scratch_bytes} B",
        f"  {'shared':<9} {kernel.lds_bytes} B per block of at most {kernel.workgroup} threads",
        f"  {'code':<9} {code}",
    ]


def _mix_lines(kernel: KernelReport) -> list[str]:
    if kernel.instructions is None:
        return []
    total, loop = sum(kernel.instructions.values()), kernel.hot_loop or {}
    matrix = loop.get("matrix", 0)
    heads = ["whole", "hot loop", *(["per matrix"] if matrix else [])]
    lines = [f"  {'instructions':<20}" + "".join(f"{head:>12}" for head in heads)]
    for name, number in (*kernel.instructions.items(), ("all", total)):
        inside = sum(loop.values()) if name == "all" else loop.get(name, 0)
        cells = [str(number), str(inside) if kernel.hot_loop is not None else "-"]
        cells += [f"{inside / matrix:.3f}"] if matrix else []
        lines.append(f"    {name:<18}" + "".join(f"{cell:>12}" for cell in cells))
    if kernel.hot_loop_lines is not None:
        lines.append(f"  the hot loop is lines {kernel.hot_loop_lines[0]} to {kernel.hot_loop_lines[1]} of the assembly")
    return lines


def _pair_lines(kernel: KernelChange, width: int) -> list[str]:
    a, b = (cut_middle(plain_text(name), width) for name in (kernel.a, kernel.b))
    same = SAME_CODE[kernel.same_code]
    head = f"{a}  {same}" if kernel.a == kernel.b else f"{a} -> {b}  {same}"
    lines = [
        *([head] if len(head) <= width else [*dict.fromkeys((a, b)), f"  {same}"]),
        f"    {'':<20}{'a':>12}{'b':>12}{'change':>12}",
        *change_rows(kernel.figures),
    ]
    if kernel.limiter_a is not None or kernel.limiter_b is not None:
        lines.append(f"    {'limiter':<20}{kernel.limiter_a or '-':>12}{kernel.limiter_b or '-':>12}")
    for title, changes in (("instructions", kernel.instructions), ("hot loop", kernel.hot_loop)):
        if changes:
            lines += [f"  {title}", *change_rows(changes)]
    return lines


def change_rows(changes: Sequence[Change]) -> list[str]:
    """Return a line for each figure: its name, a, b and the change."""
    return [f"    {each.name:<20}{_number(each.a):>12}{_number(each.b):>12}{_delta(each):>12}" for each in changes]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.12g}"


def _delta(change: Change) -> str:
    if change.delta is None:
        return "-"
    if not change.delta:
        return "="
    return f"{change.delta:+.12g}" if change.percent is None else f"{change.percent:+.1f} %"
