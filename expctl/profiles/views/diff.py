"""The comparison of two profiles for a terminal, and as JSON data."""

from collections.abc import Mapping, Sequence
from typing import Any

from expctl.domain.experiment.figures import time_text
from expctl.domain.layout import NAME_MOST, Column, cut_middle, fitting
from expctl.domain.text import one_line, plain_text
from expctl.profiles.diff.cause import CauseKind
from expctl.profiles.diff.figures import extent_text, percent_text
from expctl.profiles.diff.kernel_pairs import PairedBy
from expctl.profiles.diff.noise import CYCLES_PERCENT, DEVIATIONS, ONE_CALL_PERCENT, TIME_PERCENT, is_about, ratio
from expctl.profiles.diff.rows import Row, counter_rows, rows_of
from expctl.profiles.diff.run_change import KernelChange, RunChange
from expctl.profiles.model.kernel_profile import Kernel, Profile
from expctl.profiles.views.data import plain_fields
from expctl.profiles.views.short_names import apart_when_cut, short_names

SIDES = ("before", "after")
RANKS = {"": 0, "mean": 0, "calls": 1, "vgpr": 2, "lds": 3, "scratch": 6, "grid": 5, "workgroup": 4}
"""Heading -> rank: what is left out first where the terminal is narrow."""


def diff_lines(before: Profile, after: Profile, found: RunChange, top: int, width: int = 0) -> list[str]:
    """Return the comparison of two profiles as lines of text. They show the first `top` pairs of kernels (0: all), kernels
    without a counterpart, the time of one pass, and why it changed. Tables fit into `width` columns, unless it is 0.
    """
    lines = [f"  before  {_head(before)}", f"  after   {_head(after)}"]
    shown = found.changes[:top] if top > 0 else found.changes
    labels = _labels([kernel for change in shown for kernel in (change.pair.after, change.pair.before)], width)
    heads, *rows = _table([row for change in shown for row in _table_rows(change)], width)
    lines += ["", heads]
    for change in shown:
        own, rows = rows[: len(_table_rows(change))], rows[len(_table_rows(change)) :]
        lines += [*_names(change, labels, width), *own]
        lines += [f"    {line}" for line in _row_lines(rows_of(change))]
        lines += _unclear_lines(change)
        if change.cause is not None and change.cause.kind is CauseKind.KERNEL:
            lines.append(f"    {change.cause.words}")
    if len(shown) < len(found.changes):
        lines.append(f"  ... and {len(found.changes) - len(shown)} more pairs (--top 0 lists all)")
    lines += [f"  only before  {line}" for line in _alone(found.missing[: top or None], width)]
    lines += [f"  only after   {line}" for line in _alone(found.extra[: top or None], width)]
    if found.before_ns and found.after_ns:
        whole = percent_text(found.after_ns / found.before_ns)
        lines += ["", f"  one pass  {time_text(found.before_ns)} -> {time_text(found.after_ns)} ({whole})"]
    if found.incomparable:
        lines.append(f"  no cause  {one_line(found.incomparable)}")
    return [*lines, *([f"  why       {found.why.sentence}"] if found.why else [])]


def _unclear_lines(change: KernelChange) -> list[str]:
    """Return a line where the times of both sides can't be told apart: either they are equal, or their spread hides it."""
    time = ratio(change.before.time_ns, change.after.time_ns)
    if change.slower is not None or time is None:
        return []
    if is_about(time, TIME_PERCENT):
        return ["    the time is the same within the noise"]
    cycles = ratio(change.before.cycles, change.after.cycles)
    if cycles is not None and (is_about(cycles, CYCLES_PERCENT) or (cycles > 1) != (time > 1)):
        why = f"cycles don't show it ({percent_text(cycles)})"
    elif min(change.pair.before.calls, change.pair.after.calls) == 1 and is_about(time, ONE_CALL_PERCENT):
        why = f"single calls differ by up to {ONE_CALL_PERCENT:.0f} %"
    else:
        why = f"that is within {DEVIATIONS:.0f} standard errors of the calls' spread"
    return [f"    the times can't be told apart: {percent_text(time)}, but {why}"]


def diff_data(before: Profile, after: Profile, found: RunChange) -> dict[str, Any]:
    """Return the comparison of two profiles as a JSON document in which every key is always present."""
    why = found.why
    return {
        "before": {"path": before.path, "source": before.source.value, "pass_ns": found.before_ns},
        "after": {"path": after.path, "source": after.source.value, "pass_ns": found.after_ns},
        "pairs": [_pair_data(change) for change in found.changes],
        "only_before": [{"name": each.name, "class": each.kind.value, "total_ns": each.total_ns} for each in found.missing],
        "only_after": [{"name": each.name, "class": each.kind.value, "total_ns": each.total_ns} for each in found.extra],
        "why": {"cause": why.kind.value, "kernel": why.kernel, "sentence": why.sentence} if why else None,
        "why_not": found.incomparable or None,
    }


def _pair_data(change: KernelChange) -> dict[str, Any]:
    pair = change.pair
    return {
        "before": pair.before.name,
        "after": pair.after.name,
        "paired_by": pair.by.value,
        "calls": [pair.before.calls, pair.after.calls],
        "mean_ns": [pair.before.mean_ns, pair.after.mean_ns],
        "time_ratio": ratio(pair.before.mean_ns, pair.after.mean_ns),
        "beyond_noise": change.slower is not None,
        "launches": [plain_fields(pair.before.launch), plain_fields(pair.after.launch)],
        "rows": [plain_fields(row) for row in rows_of(change)],
        "counters": [plain_fields(row) for row in counter_rows(pair.before.counters, pair.after.counters)],
        "cause": {"kind": change.cause.kind.value, "words": change.cause.words} if change.cause else None,
    }


def _head(profile: Profile) -> str:
    device = profile.devices[0] if profile.devices else None
    where = f", {one_line(device.product or device.arch or device.name, 60)}" if device else ""
    return f"{one_line(profile.path)} ({profile.source}{where})"


def _labels(kernels: Sequence[Kernel], width: int) -> dict[str, str]:
    """Return what stands for each name: the whole of it where that fits, else its folded form."""
    room = width and width - 2
    short = apart_when_cut(short_names(list(dict.fromkeys(kernel.name for kernel in kernels))), room)
    whole = {name: plain_text(name) for name in short}
    return {name: whole[name] if len(whole[name]) <= (room or NAME_MOST) else cut_middle(short[name], room) for name in short}


def _names(change: KernelChange, labels: Mapping[str, str], width: int) -> list[str]:
    pair = change.pair
    after, before = (f"  {labels[each.name]}" for each in (pair.after, pair.before))
    if pair.by is PairedBy.NAME:
        return [after]
    both = f"{after}  (by {pair.by}: before {before.strip()})"
    return [both] if not width or len(both) <= width else [after, f"  (by {pair.by}; before:)", before]


def _table_rows(change: KernelChange) -> list[tuple[str, ...]]:
    rows = [_table_row(side, kernel) for side, kernel in zip(SIDES, (change.pair.before, change.pair.after), strict=True)]
    time = ratio(change.before.time_ns, change.after.time_ns)
    return [*rows, ("change", percent_text(time), *[""] * (len(RANKS) - 2))] if time is not None else rows


def _table_row(side: str, kernel: Kernel) -> tuple[str, ...]:
    launch = kernel.launch
    counts = (kernel.calls, launch.vgpr, launch.lds_bytes, launch.scratch_bytes)
    workgroup = extent_text(launch.workgroup) if launch.workgroup else _count(launch.workgroup_size)
    grid = extent_text(launch.grid) if launch.grid else f"{launch.groups} groups" if launch.groups else "-"
    return side, "-" if kernel.mean_ns is None else time_text(kernel.mean_ns), *map(_count, counts), grid, workgroup


def _row_lines(rows: Sequence[Row]) -> list[str]:
    width = max((len(row.what) for row in rows), default=0)
    changes = [f"  ({percent_text(row.ratio)})" if row.ratio is not None else "" for row in rows]
    return [f"{row.what.ljust(width)}  {row.before} -> {row.after}{by}" for row, by in zip(rows, changes, strict=True)]


def _table(rows: Sequence[tuple[str, ...]], width: int) -> list[str]:
    """Return the headings and `rows` as lines, without the columns that don't fit into `width`."""
    columns = [Column(head, [row[i] for row in rows], rank, words=not i) for i, (head, rank) in enumerate(RANKS.items())]
    kept = fitting(columns, width and max(width - 4, 1))
    return [f"    {'  '.join(cells)}".rstrip() for cells in zip(*(column.aligned() for column in kept), strict=True)]


def _alone(kernels: Sequence[Kernel], width: int) -> list[str]:
    """Return lines on kernels that the other profile hasn't; of a long name the folded form."""
    short = short_names([kernel.name for kernel in kernels])
    lines = []
    for kernel in kernels:
        time = f", {time_text(kernel.mean_ns)}" if kernel.mean_ns is not None else ""
        rest = f" ({kernel.kind}): {kernel.calls} call{'' if kernel.calls == 1 else 's'}{time}"
        room, name = width and width - len(rest) - 15, plain_text(kernel.name)
        lines.append((name if len(name) <= (room or NAME_MOST) else cut_middle(short[kernel.name], room)) + rest)
    return lines


def _count(value: int | None) -> str:
    return "-" if value is None else str(value)
