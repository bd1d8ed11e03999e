"""Read `ncu --csv` tables: the raw page (a row per kernel, a column per metric) and the details page (a row per metric)."""

import re
from collections.abc import Iterator, Mapping

from expctl.domain.text import one_line
from expctl.profiles.diff.kernel_evidence import CYCLES
from expctl.profiles.model.kernel_profile import Device, Extent, GridUnit, Source
from expctl.profiles.raw import refusals
from expctl.profiles.raw.extents import AXES, extent
from expctl.profiles.raw.profile import RawLaunch, RawProfile
from expctl.profiles.raw.sanity_limits import NUMBER
from expctl.profiles.readers.csv_table import Row, Table
from expctl.profiles.readers.nvidia.ncu_units import has_decimal_comma, in_base_units

DURATION = "gpu__time_duration.sum"
# (name on the details page, kind of unit where one name has two meanings) -> name on the raw page, which is used here.
_DETAILS: Mapping[tuple[str, str], str] = {
    ("Duration", ""): DURATION,
    ("SM Frequency", ""): "gpc__cycles_elapsed.avg.per_second",
    ("DRAM Frequency", ""): "dram__cycles_elapsed.avg.per_second",
    ("Compute (SM) Throughput", "%"): "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    ("Memory Throughput", "%"): "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    ("Memory Throughput", "byte"): "dram__bytes.sum.per_second",
    ("DRAM Throughput", "%"): "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    ("Registers Per Thread", ""): "launch__registers_per_thread",
    ("Static Shared Memory Per Block", ""): "launch__shared_mem_per_block_static",
    ("Dynamic Shared Memory Per Block", ""): "launch__shared_mem_per_block_dynamic",
    ("# SMs", ""): "launch__sm_count",
    ("Achieved Occupancy", "%"): "sm__warps_active.avg.pct_of_peak_sustained_active",
    ("Theoretical Occupancy", "%"): "sm__maximum_warps_per_active_cycle_pct",
    ("Local Memory Spilling Requests", ""): "derived__local_spilling_requests",
    ("Elapsed Cycles", ""): "gpc__cycles_elapsed.max",
    ("Executed Instructions", ""): "smsp__inst_executed.sum",
    ("Issued Instructions", ""): "smsp__inst_issued.sum",
    ("Warp Cycles Per Issued Instruction", ""): "smsp__average_warp_latency_per_inst_issued.ratio",
}
_OTHER_DURATIONS = ("gpu__time_duration.avg", "gpu__time_duration.max", "gpu__time_duration")
_CLOCK = "gpc__cycles_elapsed.avg.per_second"
_CYCLES = ("gpc__cycles_elapsed.avg", "gpc__cycles_elapsed.max")
_CLOCK_KHZ = "device__attribute_clock_rate"
_PRODUCT = "device__attribute_display_name"
_NOT_COUNTERS = re.compile(
    r"device__attribute|^launch__|\.(min|max)(\.|$)|peak_sustained$|\.sum\.pct_of|breakdown|__c2c|^nvlink|^c2clink|^pcie"
)
_EXTENT = re.compile(r"\(\s*(SIZE)\s*,\s*(SIZE)\s*,\s*(SIZE)\s*\)".replace("SIZE", r"[\d,]{1,13}?"), re.ASCII)
"""Matches an extent such as `(1,024, 8, 1)`, each number up to 13 characters, enough for 2^32 with commas."""


def gather_raw(table: Table) -> RawProfile:
    """Return the kernels in a table of `ncu --csv --page raw`. Raises Refused if it has no kernels, or if its second row isn't
    the units.
    """
    found = RawProfile(source=Source.NCU_RAW, file=str(table.path), grid_unit=GridUnit.WORKGROUPS)
    units: Row = []
    for row in _rows(table):
        if not units:
            units = row
            if row[table.names["id"]].strip():
                raise refusals.unknown(table.path, "a table of ncu --page raw without its second row, the units")
            continue
        texts = {name: (row[column], units[column]) for name, column in table.names.items() if "__" in name}
        _kernel(found, table, row, texts)
    return _finished(found, table)


def gather_details(table: Table) -> RawProfile:
    """Return the kernels in a table of `ncu --csv --page details`, or of metrics that ncu prints while profiling. Raises
    Refused without kernels.
    """
    found = RawProfile(source=Source.NCU_DETAILS, file=str(table.path), grid_unit=GridUnit.WORKGROUPS)
    columns = table.names
    table.least = columns["metric value"] + 1  # rows of metrics lack the last columns, which are for ncu's advice
    unit_column = columns.get("metric unit")
    rows: dict[tuple[str, str], Row] = {}
    metrics: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
    for row in _rows(table):
        which = (row[columns["process id"]] if "process id" in columns else "", row[columns["id"]])
        rows.setdefault(which, row)
        name = row[columns["metric name"]]
        if not name:
            continue  # a row with ncu's advice
        unit = row[unit_column] if unit_column is not None else ""
        metrics.setdefault(which, {}).setdefault(_details_name(name, unit), (row[columns["metric value"]], unit))
    for which, row in rows.items():
        _kernel(found, table, row, metrics.get(which, {}))
    found.notes.append("times: this page is rounded to three figures or two decimals; the raw page has all of them")
    return _finished(found, table)


def _rows(table: Table) -> Iterator[Row]:
    """Yield the rows of ncu's table. Raises Refused if a second table follows, whose kernel ids would begin at 0 again."""
    at = table.names["id"], table.names["kernel name"]
    for row in table.all_rows():
        if (row[at[0]].lower(), row[at[1]].lower()) == ("id", "kernel name"):
            raise refusals.unknown(
                table.path, "two tables of ncu in one file", "put each table into its own file, and name their folder"
            )
        yield row


def _details_name(name: str, unit: str) -> str:
    if "__" in name:
        return name
    kind = "%" if unit == "%" else "byte" if "byte" in unit.lower() else ""
    return _DETAILS.get((name, kind)) or _DETAILS.get((name, "")) or name


def _kernel(found: RawProfile, table: Table, row: Row, texts: Mapping[str, tuple[str, str]]) -> None:
    """Add the profiled kernel in `row` to `found`: its duration, launch configuration, GPU and counters. `texts` maps a metric
    to its (value, unit) as text.
    """
    columns = table.names
    if foreign := next((text for text, _ in texts.values() if has_decimal_comma(text)), ""):
        raise refusals.unknown(
            table.path,
            f"an ncu table with numbers like {foreign}, with a decimal comma of another locale",
            "LC_ALL=C ncu --import REPORT --csv --page raw",
        )
    values = {name: value for name, (text, unit) in texts.items() if (value := in_base_units(text, unit)) is not None}
    if excessive := next((name for name, value in values.items() if not abs(value) < NUMBER), ""):
        raise refusals.damaged(table.path, f"{excessive} of {one_line(texts[excessive][0], 60)}")

    def cell(name: str) -> str:
        return row[columns[name]] if name in columns else ""

    def integer(name: str) -> int | None:
        return round(values[name]) if name in values else None

    device = f"device {cell('device') or integer('launch__device_id') or 0}"
    shared = (integer("launch__shared_mem_per_block_static"), integer("launch__shared_mem_per_block_dynamic"))
    launch = RawLaunch(
        kernel=cell("kernel name"),
        device=device,
        vgpr=integer("launch__registers_per_thread"),
        lds_bytes=sum(size or 0 for size in shared) if any(size is not None for size in shared) else None,
        grid=_extent(cell("grid size")) or extent([integer(f"launch__grid_dim_{axis}") for axis in AXES]),
        workgroup=_extent(cell("block size")) or extent([integer(f"launch__block_dim_{axis}") for axis in AXES]),
    )
    found.launches[launch] = launch
    duration = next((values[name] for name in (DURATION, *_OTHER_DURATIONS) if name in values), None)
    if duration is None:
        found.untimed[launch] = found.untimed.get(launch, 0) + 1
    else:
        found.timing.add_isolated(launch, round(duration))
    if device not in found.devices:
        clock = integer(_CLOCK_KHZ)
        found.devices[device] = Device(
            name=device,
            arch=f"sm_{cell('cc').replace('.', '')}" if cell("cc") else "",
            product=texts[_PRODUCT][0] if _PRODUCT in texts else "",
            units=integer("launch__sm_count"),
            clock_mhz=clock // 1000 if clock else None,
        )
    for name, value in values.items():
        if "__" in name and not _NOT_COUNTERS.search(name):
            found.add_counter(launch.kernel, name, value)
    cycles = next((values[name] for name in _CYCLES if name in values), None)
    if cycles is None and _CLOCK in values and duration is not None:
        cycles = values[_CLOCK] * duration / 1e9  # for each call: the product of mean clock and mean time is another number
    if cycles is not None:
        found.add_counter(launch.kernel, CYCLES, cycles)


def _finished(found: RawProfile, table: Table) -> RawProfile:
    if not found.has_kernels:
        raise refusals.no_kernels(table.path, "an ncu table without a kernel", "profile again: no kernel was captured")
    if number := sum(found.untimed.values()):
        found.missing.append(
            f"the time of {number} kernel{'' if number == 1 else 's'} (collect {DURATION}, or the section SpeedOfLight)"
        )
    found.notes.append(
        "times: ncu holds the clock at its base and empties caches before each kernel unless told otherwise; kernels run alone"
    )
    found.missing.append("launch gaps and idle time (ncu replays kernels one at a time)")
    return found


def _extent(text: str) -> Extent | None:
    match = _EXTENT.search(text)
    return extent([int(each.replace(",", "")) for each in match.groups()]) if match else None
