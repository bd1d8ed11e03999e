"""The time of each call of a kernel in one process: as the benchmark wrote it, or by the profiler's kernel trace."""

import re
from collections.abc import Sequence
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.run.step_result import Failed
from expctl.domain.text import one_line
from expctl.profiles.raw import refusals
from expctl.profiles.readers.csv_kinds import CsvKind, csv_kind
from expctl.profiles.readers.csv_table import integers, open_table

TIMES = "times.txt"
BYTES_MAX = 64 << 20
US_MOST = 1e12

Calls = tuple[float, ...]


def reported(folder: Path) -> Calls | Failed:
    """Return the us of each call, in order, from the file that `{times}` named: a line for each. Failed if it has others."""
    try:
        with open(folder / TIMES, "rb") as file:
            lines = file.read(BYTES_MAX).decode(errors="replace").split()
    except OSError as error:
        return _failed(f"no times in the file that {{times}} names: {error.strerror}")
    try:
        times = tuple(map(float, lines))
    except ValueError as error:
        return _failed(f"a line of the file that {{times}} names is no number of us: {error}")
    bad = next((each for each in times if not 0 < each < US_MOST), None)
    return times if bad is None else _failed(f"{{times}} has {bad:g}, where us above 0 belong")


def traced(folder: Path, pattern: str, calls: int | None) -> Calls | Failed:
    """Return the us of each call, in order, from the kernel trace that rocprofv3 left below `folder`.

    A call is what all kernels whose names match `pattern` take together. `calls` is their number, None if it isn't known: then
    the kernel with the fewest dispatches has one a call. Failed if a kernel's dispatches don't divide into the calls.
    """
    found = []
    try:
        for path in sorted(folder.rglob("*.csv")):
            if kernels := _dispatches(path, re.compile(pattern)):
                found.append(kernels)
    except Refused as refusal:
        return _failed(f"{refusal.message}: {refusal.found}")
    if len(found) != 1:
        left = ", ".join(sorted(path.name for path in folder.rglob("*") if path.is_file())) or "nothing"
        return _failed(
            f"expected one kernel trace (CSV: rocprofv3 --kernel-trace --output-format csv) with kernels that match {pattern}, "
            f"found {len(found)}; the profiler left {left}"
        )
    kernels = found[0]
    calls = calls or min(map(len, kernels.values()))
    for name, times in kernels.items():
        if len(times) % calls:
            return _failed(f"{one_line(name, 100)} has {len(times)} dispatches, which {calls} calls can't share evenly")
    return tuple(sum(_part(times, at, calls) for times in kernels.values()) / 1e3 for at in range(calls))


def _part(times: Sequence[int], at: int, calls: int) -> int:
    each = len(times) // calls
    return sum(times[at * each : (at + 1) * each])


def _dispatches(path: Path, pattern: re.Pattern[str]) -> dict[str, list[int]]:
    """Return kernel -> ns of its dispatches in the order of their start, of the kernels that match; {} for another table."""
    found: dict[str, list[tuple[int, int]]] = {}
    with open_table(path) as table:
        if csv_kind(table.names) is not CsvKind.TRACE:
            return {}
        name, *times = (table.names[head] for head in ("kernel_name", "start_timestamp", "end_timestamp"))
        for row in table.all_rows():
            if pattern.search(row[name]):
                start, end = integers(path, "a time stamp", [row[at] for at in times])
                found.setdefault(row[name], []).append((start, end - start))
        if not table.lines.ended:
            raise refusals.damaged(path, "its last line has no end: it is cut off")
    kernels = {kernel: [ns for _, ns in sorted(each)] for kernel, each in found.items()}
    if bad := next((kernel for kernel, each in kernels.items() if min(each) <= 0), ""):
        raise refusals.damaged(path, f"a dispatch of {one_line(bad, 100)} that ends before it starts")
    return kernels


def _failed(reason: str) -> Failed:
    return Failed(reason=one_line(reason, 500), fault=True)
