"""The times of what users would take instead of the kernel, as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from expctl.domain.experiment.figures import throughput_text, time_text
from expctl.domain.experiment.rivals import Role, speed_ratio
from expctl.domain.layout import Column, named_table
from expctl.domain.text import one_line

if TYPE_CHECKING:
    from expctl.domain.experiment.rivals import CodeObject, Extent, Rival, RivalKernel, Rivals, RivalSize

ROLES = {Role.OURS: "", Role.RIVAL: "", Role.WALL: "wall: "}
HEADS = ("time", "throughput", "ours is")
KERNEL_HEADS = ("calls", "average", "registers", "LDS", "grid", "workgroup")


def rivals_lines(rivals: Rivals, width: int = 0) -> list[str]:
    """Return rivals as lines of text: for each size the times, then the kernels of each. Tables fit into `width` columns."""
    kind = rivals.number_kind.replace("_", " ")
    lines = [f"{rivals.target}, commit {rivals.head[:12]}, {kind}, {rivals.date[:10]}"]
    for size in rivals.sizes:
        lines += ["", *_times(size, width)]
        for each in size.entries:
            lines += _details(each, width)
    return lines


def _times(size: RivalSize, width: int) -> list[str]:
    timed = [each for each in size.entries if each.ns]
    rows = [time_cells(size, each) for each in timed]
    names = Column(one_line(size.name, 60), [name_text(each) for each in timed], words=True)
    columns = _columns(HEADS, rows)
    absent = [f"  {one_line(each.name, 60)}: not timed: {one_line(each.absent, 300)}" for each in size.entries if each.absent]
    return [*named_table(columns, names, width, indent=2)[0], *absent]


def name_text(rival: Rival) -> str:
    """Return the name of a rival, with its role and the config of the kernel's own."""
    config = f" ({rival.config})" if rival.config else ""
    return one_line(f"{ROLES[rival.role]}{rival.name}{config}", 80)


def time_cells(size: RivalSize, rival: Rival) -> tuple[str, str, str]:
    """Return the time of one result, its throughput, and how many times as fast the kernel is; "" if unknown."""
    ratio = "" if size.ours is None or rival is size.ours else ratio_text(size.ours, rival)
    return time_text(rival.median_ns), throughput_text(size.flop, rival.median_ns), ratio


def ratio_text(ours: Rival, other: Rival) -> str:
    """Return how many times as fast as `other` the kernel is, e.g. `1.87x [1.85, 1.90]`."""
    ratio, low, high = speed_ratio(ours, other)
    return f"{ratio:.2f}x [{low:.2f}, {high:.2f}]"


def _details(rival: Rival, width: int) -> list[str]:
    sentences = [f"  {each}" for each in rival_sentences(rival)]
    if not rival.kernels:
        return ["", f"  {name_text(rival)}", *sentences] if sentences else []
    rows = [kernel_cells(each) for each in rival.kernels]
    names = Column(name_text(rival), [one_line(each.name, 600) for each in rival.kernels], words=True)
    return ["", *named_table(_columns(KERNEL_HEADS, rows), names, width, indent=2)[0], *sentences]


def _columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Column]:
    return [Column(head, [row[i] or "-" for row in rows], rank=i) for i, head in enumerate(heads)]


def kernel_cells(kernel: RivalKernel) -> tuple[str, ...]:
    """Return calls, average time, registers, LDS bytes, grid and workgroup of a kernel; "" for what is unknown."""
    counts = ("" if each is None else str(each) for each in (kernel.registers, kernel.lds_bytes))
    return str(kernel.calls), time_text(kernel.mean_ns), *counts, _extent(kernel.grid), _extent(kernel.workgroup)


def _extent(extent: Extent | None) -> str:
    return "" if extent is None else "x".join(map(str, extent))


def rival_sentences(rival: Rival) -> list[str]:
    """Return what a rival's times rest on: what was tuned, what converting costs, what lies beside its kernel, remarks."""
    found = []
    if rival.chosen:
        found.append(f"chosen: {one_line(rival.chosen, 160)}{_tried(rival)}")
    if rival.backends:
        found.append(one_line(f"eligible backends: {_backends(rival)}", 900))
    if rival.cast_ns:
        gb_s = rival.cast_bytes / rival.cast_ns
        found.append(f"the cast moves {rival.cast_bytes / 1e6:.1f} MB in {time_text(rival.cast_ns)}: {gb_s:.0f} GB/s")
    elif rival.cast_bytes and rival.kernels:
        found.append("no kernel of its own casts: the conversion is fused")
    found += [code_object_text(each) for each in rival.code_objects]
    return [*found, *([one_line(rival.remark, 300)] if rival.remark else [])]


def _backends(rival: Rival) -> str:
    eligible = ", ".join(each.name for each in rival.backends if each.eligible) or "none"
    others: dict[str, list[str]] = {}
    for each in rival.backends:
        if not each.eligible:
            others.setdefault(each.why, []).append(each.name)
    return "; ".join([eligible, *(f"not {', '.join(names)}: {why}" for why, names in others.items())])


def _tried(rival: Rival) -> str:
    others = [f"{one_line(name, 60)} {time_text(us * 1e3)}" for name, us in list(rival.tried_us.items())[1:4]]
    return f", of {len(rival.tried_us)} tried; next {', '.join(others)}" if others else ""


def code_object_text(found: CodeObject) -> str:
    """Return what lies beside a kernel, with the parts of the likest names that the kernel's own name hasn't."""
    nearest = "; ".join(differing_parts(found.symbol, found.nearest)) or "none"
    symbol = one_line(found.symbol, 300)
    return one_line(f"{symbol} lies in a code object of {found.count}; the likest differ in: {nearest}", 900)


def differing_parts(symbol: str, names: Sequence[str]) -> list[str]:
    """Return for each of `names` its parts that `symbol` hasn't, `EPS0 GLVWA4`; the whole name where all of it differs."""
    own = set(symbol.split("_"))
    parts = ([part for part in name.split("_") if part not in own] for name in names)
    return [" ".join(each) or "fewer parts" for each in parts]
