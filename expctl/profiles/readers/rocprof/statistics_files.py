"""Read two kinds of CSV files of rocprofv3: statistics per kernel, and counter collections."""

from itertools import pairwise

from expctl.profiles.model.kernel_profile import Source
from expctl.profiles.raw import refusals
from expctl.profiles.raw.profile import RawLaunch, RawProfile, Statistic
from expctl.profiles.readers.csv_kinds import TOTALS, why_not_kernels
from expctl.profiles.readers.csv_table import Row, Table, integers, number, optional_integer
from expctl.profiles.readers.rocprof.csv_files import describe, device_key

_AVERAGE = ("averagens", "average (nsec)", "average")
_LEAST = ("minns", "min (nsec)")
_MOST = ("maxns", "max (nsec)")
MEAN_IS_ROUNDED = 1e-5
"""Relative rounding error of a printed mean, which has six digits or more."""
_DEVIATION = ("stddev", "std_dev")


def gather_statistics(table: Table) -> RawProfile:
    """Return the kernels in a table of kernel statistics of rocprofv3, one per row. Raises Refused for impossible figures, and
    for statistics that aren't about kernels.
    """
    found = RawProfile(source=Source.ROCPROF_STATS, file=str(table.path))
    for row in table.all_rows():
        name = row[table.names["name"]]
        if name in found.statistics:
            raise refusals.damaged(table.path, f"two rows of the kernel {name[:80]}")
        found.statistics[name] = _statistic(table, row)
    if not found.statistics:
        raise refusals.no_kernels(table.path, "statistics without a row", "check that the program launches a kernel")
    if other := why_not_kernels(found.statistics):
        raise refusals.no_kernels(
            table.path, f"statistics of {other}", "give kernel_stats.csv or kernel_trace.csv of the same run"
        )
    found.notes.append("times: taken under the profiler, which adds 2 to 3 %")
    found.missing.append(
        "medians, launch gaps, registers and grids (statistics hold none: give kernel_trace.csv, or the folder)"
    )
    return found


def _statistic(table: Table, row: Row) -> Statistic:
    def cell(names: tuple[str, ...]) -> str | None:
        return next((row[table.names[name]] for name in names if name in table.names), None)

    (calls, total) = integers(table.path, "Calls or total duration", (row[table.names["calls"]], cell(TOTALS) or ""))
    if calls <= 0 or total < 0:
        raise refusals.damaged(table.path, f"a kernel with {calls} calls in {total} ns")
    average, deviation = cell(_AVERAGE), cell(_DEVIATION)
    least, most = cell(_LEAST), cell(_MOST)
    found = Statistic(
        calls=calls,
        total_ns=total,
        mean_ns=number(table.path, "AverageNs", average) if average else total / calls,
        min_ns=integers(table.path, "MinNs", (least,))[0] if least else None,
        max_ns=integers(table.path, "MaxNs", (most,))[0] if most else None,
        sd_ns=number(table.path, "StdDev", deviation) if deviation and calls > 1 else None,
    )
    ordered = [each for each in (found.min_ns, found.mean_ns, found.max_ns) if each is not None]
    if any(after < before * (1 - MEAN_IS_ROUNDED) for before, after in pairwise([0, *ordered])):
        raise refusals.damaged(table.path, f"a kernel whose minimum, mean and maximum are {', '.join(map(str, ordered))} ns")
    return found


def gather_counters(table: Table) -> RawProfile:
    """Return counters and durations in a counter collection of rocprofv3, each row of which is one counter of one dispatch.

    A dispatch that was repeated to collect more counters is timed and counted once. Raises Refused for a table without rows or
    without ids of dispatches.
    """
    found = RawProfile(source=Source.ROCPROF_COUNTERS, file=str(table.path))
    columns = table.names
    launch_names = [
        name
        for name in (
            "kernel_name", "agent_id", "grid_size", "workgroup_size", "lds_block_size", "scratch_size", "vgpr_count",
            "arch_vgpr_count", "accum_vgpr_count", "sgpr_count",
        )
        if name in columns
    ]  # fmt: skip
    dispatch_names = [name for name in ("guid", "process_id", "agent_id", "dispatch_id", "correlation_id") if name in columns]
    if not {"dispatch_id", "correlation_id"} & columns.keys():
        raise refusals.unknown(table.path, "counters without Dispatch_Id: nothing tells one dispatch from the next")
    timed = "start_timestamp" in columns and "end_timestamp" in columns
    replay = columns.get("replay_pass")
    values: dict[tuple[tuple[str, ...], str, str, str], float] = {}
    seen: dict[tuple[str, ...], tuple[tuple[str, ...], int, int]] = {}
    for row in table.all_rows():
        dispatch = tuple(row[columns[name]] for name in dispatch_names)
        name, counter = row[columns["kernel_name"]], row[columns["counter_name"]]
        value = number(table.path, "Counter_Value", row[columns["counter_value"]])
        which = (dispatch, row[replay] if replay is not None else "", name, counter)
        values[which] = values.get(which, 0.0) + value
        if dispatch in seen:
            continue
        key = tuple(row[columns[each]] for each in launch_names)
        if key not in found.launches:
            found.launches[key] = _launch(dict(zip(launch_names, key, strict=True)))
        times = (row[columns["start_timestamp"]], row[columns["end_timestamp"]]) if timed else ("0", "0")
        start, end = integers(table.path, "a time stamp", times)
        seen[dispatch] = (key, start, end)
    if not seen:
        raise refusals.no_kernels(table.path, "counters without a row", "check that the program launches a kernel")
    for (*_, name, counter), value in values.items():
        found.add_counter(name, counter, value)
    _fill(found, seen, timed=timed)
    describe(found, columns)
    found.notes.append("counters: dispatches ran one at a time to be counted, so gaps between them mean nothing")
    return found


def _fill(found: RawProfile, seen: dict[tuple[str, ...], tuple[tuple[str, ...], int, int]], *, timed: bool) -> None:
    for key, start, end in seen.values():
        if timed:
            found.timing.add_isolated(key, end - start)
        else:
            found.untimed[key] = found.untimed.get(key, 0) + 1
    if not timed:
        found.missing.append("times (this counter collection has none: give the kernel trace of the same program)")


def _launch(cells: dict[str, str]) -> RawLaunch:
    def integer(*names: str) -> int | None:
        return next((optional_integer(cells[name]) for name in names if name in cells), None)

    return RawLaunch(
        kernel=cells["kernel_name"],
        device=device_key(cells.get("agent_id", "")),
        vgpr=integer("vgpr_count", "arch_vgpr_count"),
        accum=integer("accum_vgpr_count"),
        sgpr=integer("sgpr_count"),
        lds_bytes=integer("lds_block_size"),
        scratch_bytes=integer("scratch_size"),
        workgroup_size=integer("workgroup_size"),
        grid_size=integer("grid_size"),
    )
