"""A profile as text: the run, totals by class of kernels, each kernel with what bounds it, and what the profiler gets wrong."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from expctl.domain.experiment.figures import time_text
from expctl.domain.layout import NAME_LEAST, NAME_MOST, Column, cut_middle, named_table
from expctl.domain.text import one_line, plain_text
from expctl.inspection.views.occupancy import resident_lines
from expctl.profiles.diff.figures import count_text, extent_text
from expctl.profiles.model.kernel_profile import (
    MEND_PERCENT,
    Device,
    Extent,
    Kernel,
    Profile,
    class_shares,
    unidentified_percent,
)
from expctl.profiles.model.pipeline import Pipeline
from expctl.profiles.roofline.ceilings import Bound, Position
from expctl.profiles.roofline.fill import fill_text
from expctl.profiles.views.short_names import apart_when_cut, short_names

COUNTERS = 8
"""Number of hardware counters that are shown for a kernel."""
EXPLAINED = 3
"""Number of kernels that are explained below the table."""


def profile_lines(
    profile: Profile,
    kernels: Sequence[Kernel],
    positions: Mapping[str, Position],
    pipeline: Pipeline | None,
    totals: Sequence[Kernel],
    explained: int = EXPLAINED,
    width: int = 0,
) -> list[str]:
    """Return a profile as lines of text that list `kernels` and explain what bounds the first `explained` of them. Tables fit
    into `width` columns, unless it is 0.

    `positions` are roofline positions by kernel name, `pipeline` the mean times of one repetition of the kernels. `totals` are
    the kernels over which classes (GEMM, copy, ...) are summed up; they may be more than `kernels`.
    """
    lines = _head_lines(profile)
    if totals:
        lines += ["", *_class_lines(profile, totals), "", *_table_lines(profile, kernels, positions, width)]
    if len(kernels) < len(totals):
        lines.append(f"  ... and {len(totals) - len(kernels)} more (--top 0 lists all)")
    for kernel in kernels[:explained]:
        explanation = _explained_lines(kernel, positions.get(kernel.name), width)
        lines += ["", *explanation] if explanation else []
    if pipeline:
        lines += ["", *_pipeline_lines(pipeline, width)]
    if profile.copies:
        lines += ["", "  copies (no kernels, not in the shares)", *_copy_lines(profile)]
    labels = [
        *(f"  note     {one_line(note, 600)}" for note in profile.notes),
        *(f"  missing  {one_line(line, 600)}" for line in profile.missing),
    ]
    return [*lines, *(["", *labels] if labels else [])]


def _head_lines(profile: Profile) -> list[str]:
    files = _number(len(profile.files), "file")
    lines = [one_line(profile.path), f"  {profile.source}, {files}" if profile.kernels else f"  memory copies alone, {files}"]
    lines += [f"  {_device_text(device)}" for device in profile.devices]
    timed = any(kernel.total_ns is not None for kernel in profile.kernels)
    if profile.kernels:
        what = f"{_number(profile.calls, 'call')} of {_number(len(profile.kernels), 'kernel')}"
        lines.append(f"  {what}, {time_text(profile.total_ns) if timed else 'times not recorded'}")
    for each in profile.timelines:
        lines.append(
            f"  {one_line(each.device, 60)}: {_number(each.dispatches, 'dispatch', 'es')} in {time_text(each.span_ns)}, "
            f"idle {each.idle_percent:.1f} % ({time_text(each.idle_ns)} in {_number(each.gaps, 'gap')}, "
            f"longest {time_text(each.longest_gap_ns)}); launch gaps up to {time_text(each.launch_gap_most_ns)}: "
            f"{each.launch_gaps}, together {time_text(each.launch_gap_ns)}"
        )
    return lines


def _device_text(device: Device) -> str:
    facts = [
        one_line(device.product, 60) if device.product != device.arch else "",
        f"{device.units} {'SMs' if device.arch.startswith('sm_') else 'CUs'}" if device.units else "",
        f"{device.clock_mhz} MHz at most" if device.clock_mhz else "",
    ]
    known = ", ".join(fact for fact in facts if fact)
    return f"{one_line(device.name, 60)}: {one_line(device.arch, 20) or 'GPU not named'}{f' ({known})' if known else ''}"


_CLASS_WIDTHS = (15, 8, 9, 11, 9)
"""Least column widths, so that profiles of ordinary length align alike."""


def _class_lines(profile: Profile, totals: Sequence[Kernel]) -> list[str]:
    unknown = unidentified_percent(profile)
    mend = "; mend the profile first: what it hides may be the largest class" if unknown > MEND_PERCENT else ""
    rows = [("class", "kernels", "calls", "time", "share")]
    for each in class_shares(totals, profile.total_ns):
        cells = (time_text(each.total_ns), f"{each.share_percent:.2f} %") if profile.total_ns else ("-", "-")
        rows.append((each.kind, str(each.kernels), str(each.calls), *cells))
    gaps = sum(each.launch_gap_ns for each in profile.timelines)
    if gaps and len(totals) == len(profile.kernels):
        number = sum(each.launch_gaps for each in profile.timelines)
        share = 100 * gaps / (gaps + profile.total_ns)
        rows.append(("launch gap", "", str(number), time_text(gaps), f"{share:.2f} %"))
    columns = zip(_CLASS_WIDTHS, zip(*rows, strict=True), strict=True)
    widths = [max(least, 1 + max(map(len, column))) for least, column in columns]
    lines = [
        f"  {name:<{widths[0]}}{''.join(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))}"
        for name, *cells in rows
    ]
    if rows[-1][0] == "launch gap":
        lines[-1] += " of kernels and gaps"
    return [f"  unidentified: {unknown:.2f} % of the time{mend}", *lines] if profile.total_ns else lines


_COLUMNS = {
    "calls": 4, "total": 3, "share": 0, "sum": 5, "mean": 0, "sd": 9, "min": 12, "median": 8, "max": 13, "vgpr": 6, "sgpr": 16,
    "lds": 10, "scratch": 15, "grid": 14, "workgroup": 11, "occup.": 2, "class": 7, "bound": 1,
}  # fmt: skip
"""Heading -> rank: what is left out first where the terminal is narrow."""


def _table_lines(profile: Profile, kernels: Sequence[Kernel], positions: Mapping[str, Position], width: int) -> list[str]:
    sums = list(accumulate(kernel.share_percent or 0.0 for kernel in profile.kernels))
    reached = {kernel.name: total for kernel, total in zip(profile.kernels, sums, strict=True)}
    rows = [_row(kernel, positions.get(kernel.name), reached.get(kernel.name)) for kernel in kernels]
    columns = [
        Column(head, [row[i] for row in rows], rank, words=head in ("class", "bound"))
        for i, (head, rank) in enumerate(_COLUMNS.items())
    ]
    lines, left_out = _fitted(columns, [kernel.name for kernel in kernels], width)
    if any(kernel.launch.grid for kernel in kernels) and "grid" not in left_out:
        unit = f"  (grid in {profile.grid_unit})"
        lines = [lines[0] + unit, *lines[1:]] if not width or len(lines[0] + unit) <= width else [*lines, unit]
    hidden = f"  (no room for {', '.join(left_out)}: a wider terminal or --json has them)"
    return [*lines, hidden] if left_out else lines


def _fitted(columns: Sequence[Column], names: Sequence[str], width: int) -> tuple[list[str], list[str]]:
    """Return the table with whole names where all of it fits into `width`, else with folded ones; and what was left out."""
    whole = Column("kernel", [plain_text(name) for name in names])
    if width:
        lines, left_out = named_table(columns, whole, width, indent=2, name_least=whole.width)
        if not left_out and max(map(len, lines)) <= width:
            return lines, left_out
    elif whole.width <= NAME_MOST:
        return named_table(columns, whole, indent=2)
    short = short_names(names)
    least = NAME_LEAST + max(width - 80, 0) // 4
    lines, left_out = named_table(columns, Column("kernel", [short[name] for name in names]), width, indent=2, name_least=least)
    begins = lines[0].rindex("kernel")
    if width and len({line[begins:] for line in lines}) == len(lines):
        return lines, left_out
    short = apart_when_cut(short, least if width else 0)
    cut = Column("kernel", [cut_middle(short[name], width) for name in names])
    return named_table(columns, cut, width, indent=2, name_least=least)


def _row(kernel: Kernel, place: Position | None, reached: float | None) -> tuple[str, ...]:
    launch = kernel.launch
    more = f" +{len(kernel.launches) - 1}" if len(kernel.launches) > 1 else ""
    vgpr = _count(launch.vgpr) + (f" ({launch.agpr} acc)" if launch.agpr else "")
    bound = "-" if place is None or place.bound is Bound.UNKNOWN else place.bound.removesuffix("-bound")
    return (
        str(kernel.calls), _time(kernel.total_ns), _share(kernel.share_percent),
        _share(reached if kernel.share_percent is not None else None), _time(kernel.mean_ns), _time(kernel.sd_ns),
        _time(kernel.min_ns), _time(kernel.median_ns), _time(kernel.max_ns), vgpr, _count(launch.sgpr),
        _count(launch.lds_bytes), _count(launch.scratch_bytes), _extent(launch.grid) + more,
        _extent(launch.workgroup) if launch.workgroup else _count(launch.workgroup_size),
        f"{kernel.occupancy.resident[0].percent:.0f} %" if kernel.occupancy else "-", kernel.kind.value, bound,
    )  # fmt: skip


def _explained_lines(kernel: Kernel, place: Position | None, width: int) -> list[str]:
    lines = []
    if place is not None and (place.bound is not Bound.UNKNOWN or place.tflops is not None or place.gbs is not None):
        lines.append(f"    {place.bound}: {place.reason}")
        lines += [f"    {text}" for text in (_rates(place), "; ".join(place.from_what)) if text]
    if place is not None and place.fill is not None:
        lines.append(f"    fill: {fill_text(place.fill)}")
    if kernel.occupancy is not None:
        found = kernel.occupancy
        unit = "warps per scheduler" if found.arch.startswith("sm_") else "waves per SIMD (LLVM)"
        lines.append(
            f"    occupancy: {found.waves_per_simd} of {found.most_waves_per_simd} {unit}, limited by {found.limiter}; "
            f"{found.vgpr_allocated} registers allocated"
        )
        lines += [f"    {line}" for line in resident_lines(found.resident, found.naive_percent)]
    lines += _counter_lines(kernel)
    return [f"  {cut_middle(plain_text(kernel.name), width and width - 2)}", *lines] if lines else []


def _rates(place: Position) -> str:
    parts = []
    if place.tflops is not None:
        share = ""
        if place.compute_percent is not None:
            sampled = place.compute_percent_sampled
            at = f", {sampled:.1f} % at {place.clock_mhz:.0f} MHz" if sampled is not None else ""
            share = f" ({place.compute_percent:.1f} % of {place.kind} at the highest clock{at})"
        parts.append(f"{place.tflops:.3f} TFLOP/s{share}")
    elif place.clock_mhz is not None:
        parts.append(f"clock {place.clock_mhz:.0f} MHz")
    if place.gbs is not None:
        share = f" ({place.memory_percent:.1f} % of the memory's)" if place.memory_percent is not None else ""
        parts.append(f"{place.gbs:.1f} GB/s{share}")
    if place.flop_per_byte is not None:
        roof = f", roof {place.roof_tflops:.1f} TFLOP/s" if place.roof_tflops else ""
        parts.append(f"{place.flop_per_byte:.1f} FLOP per byte{roof}")
    return ", ".join(parts)


def _pipeline_lines(found: Pipeline, width: int) -> list[str]:
    size = f" of M, N, K = {', '.join(map(str, found.size))}" if found.size else ""
    lines = [f"  one pass{size}, mean of {found.passes} ({found.passes_from})"]
    for step in found.steps:
        times = f" x {step.calls}" if step.calls > 1 else ""
        cells = f"    {step.time_ns / 1e6:>12.4f} ms {step.share_percent:>6.2f} %  {step.kind}{times}  "
        lines.append(cells + cut_middle(plain_text(step.name), width and width - len(cells)))
    total = f"    {found.total_ns / 1e6:>12.4f} ms  in all"
    lines.append(total + (f", {found.tflops:.3f} TFLOP/s" if found.tflops is not None else ""))
    if found.gemm_ns is not None and found.gemm_tflops is not None:
        lines.append(f"    {found.gemm_ns / 1e6:>12.4f} ms  the GEMM alone, {found.gemm_tflops:.3f} TFLOP/s")
    if found.outside:
        lines.append(
            f"    outside the pass: {len(found.outside)}, {one_line('; '.join(each[:40] for each in found.outside), 180)}"
        )
    return lines


def _copy_lines(profile: Profile) -> list[str]:
    lines = []
    for copy in profile.copies:
        rate = f", {copy.total_bytes / copy.total_ns:.2f} GB/s" if copy.total_bytes and copy.total_ns else ""
        size = f", {copy.total_bytes} B{rate}" if copy.total_bytes is not None else ""
        lines.append(f"    {one_line(copy.name, NAME_MOST)}: {_number(copy.calls, 'call')}, {time_text(copy.total_ns)}{size}")
    return lines


def _counter_lines(kernel: Kernel) -> list[str]:
    """Return a line with the first hardware counters, means per call, and how many more there are."""
    if not kernel.counters:
        return []
    shown = [f"{plain_text(name)} {count_text(value)}" for name, value in list(kernel.counters.items())[:COUNTERS]]
    more = len(kernel.counters) - len(shown)
    return [f"    counters of a call: {', '.join(shown)}" + (f"; {more} more in --json" if more > 0 else "")]


def _number(count: int, of_what: str, plural: str = "s") -> str:
    return f"{count} {of_what}{'' if count == 1 else plural}"


def _share(percent: float | None) -> str:
    return "-" if percent is None else f"{percent:.2f} %"


def _time(ns: float | None) -> str:
    return "-" if ns is None else time_text(ns)


def _count(value: int | None) -> str:
    return "-" if value is None else str(value)


def _extent(extent: Extent | None) -> str:
    return "-" if extent is None else extent_text(extent)
