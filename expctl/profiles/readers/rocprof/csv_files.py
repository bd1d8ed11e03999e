"""Read kernel traces in CSV of rocprofv3 6.2 to 7.x and of `rocpd convert`, with 16 to 23 columns."""

from collections.abc import Callable
from operator import itemgetter

from expctl.profiles.model.kernel_profile import Device, Source
from expctl.profiles.raw import refusals
from expctl.profiles.raw.dispatch_stats import Appenders
from expctl.profiles.raw.extents import AXES, extent
from expctl.profiles.raw.profile import RawLaunch, RawProfile
from expctl.profiles.readers.csv_table import Row, Table, integers, optional_integer

_NAMES: dict[str, tuple[str, ...]] = {
    "lds": ("lds_block_size", "group_segment_size"),
    "scratch": ("scratch_size", "private_segment_size"),
    "vgpr": ("vgpr_count", "arch_vgpr_count", "arch_vgpr"),
    "accum": ("accum_vgpr_count", "accum_vgpr"),
    "sgpr": ("sgpr_count", "sgpr"),
    **{f"workgroup_{axis}": (f"workgroup_size_{axis}",) for axis in AXES},
    **{f"grid_{axis}": (f"grid_size_{axis}",) for axis in AXES},
}


def gather_trace(table: Table) -> RawProfile:
    """Return the dispatches in a kernel trace of rocprofv3. Raises Refused if it has no rows or a bad time stamp."""
    found = RawProfile(source=Source.ROCPROF_CSV, file=str(table.path))
    columns = table.names
    figures = [next((each for each in names if each in columns), "") for names in _NAMES.values()]
    key_names = [name for name in ("kernel_name", "agent_id", *figures) if name in columns]
    key = _getter([columns[name] for name in key_names])
    start, end, guid = columns["start_timestamp"], columns["end_timestamp"], columns.get("guid")
    identities: set[str] = set()
    entries: dict[tuple[str, ...], Appenders] = {}
    for rows in table.chunks():
        starts = integers(table.path, "Start_Timestamp", [row[start] for row in rows])
        ends = integers(table.path, "End_Timestamp", [row[end] for row in rows])
        try:
            for row, began, ended in zip(rows, starts, ends, strict=True):
                which = key(row)
                if which not in entries:
                    launch = _launch(dict(zip(key_names, which, strict=True)))
                    found.launches[which] = launch
                    entries[which] = found.timing.appenders(launch.device, which)
                if not began and not ended:
                    found.timing.impossible += 1
                    continue
                duration_to, start_to, end_to = entries[which]
                duration_to(ended - began)
                start_to(began)
                end_to(ended)
        except OverflowError as error:
            raise refusals.damaged(table.path, "a time stamp of more than 64 bits") from error
        if guid is not None:
            identities.update(row[guid] for row in rows)
    found.identity = ",".join(sorted(identities))
    if not found.launches:
        raise refusals.no_kernels(table.path, "a kernel trace without a row", "check that the program launches a kernel")
    describe(found, columns)
    return found


def describe(found: RawProfile, columns: dict[str, int]) -> None:
    """Add notes to `found` on which figures of a rocprofv3 table are wrong or missing; `columns` maps names to numbers."""
    found.notes.append("times: taken under the profiler, which adds 2 to 3 %")
    if "lds_block_size" in columns and "guid" not in columns and any(raw.lds_bytes for raw in found.launches.values()):
        found.notes.append("LDS: the static size rounded up to 512 B; what a launch adds is not in this file")
    if not any(name in columns for name in _NAMES["vgpr"]):
        found.missing.append("registers (rocprofv3 before 7.0 doesn't write them to CSV)")


def device_key(agent: str) -> str:
    """Return the name of a GPU from the text of an Agent_Id cell. That is a node number before ROCm 6.4, and text like `Agent
    4` or `GPU 0` since then.
    """
    plain = agent.strip().lower()
    return f"node {plain}" if plain.isdigit() else plain or "the GPU"


def _launch(cells: dict[str, str]) -> RawLaunch:
    def integer(name: str) -> int | None:
        column = next((each for each in _NAMES[name] if each in cells), None)
        return optional_integer(cells[column]) if column else None

    return RawLaunch(
        kernel=cells["kernel_name"],
        device=device_key(cells.get("agent_id", "")),
        vgpr=integer("vgpr"),
        accum=integer("accum"),
        sgpr=integer("sgpr"),
        lds_bytes=integer("lds"),
        scratch_bytes=integer("scratch"),
        grid=extent([integer(f"grid_{axis}") for axis in AXES]),
        workgroup=extent([integer(f"workgroup_{axis}") for axis in AXES]),
    )


def _getter(columns: list[int]) -> "Callable[[Row], tuple[str, ...]]":
    return itemgetter(*columns) if len(columns) > 1 else lambda row: (row[columns[0]],)


def gather_copies(table: Table) -> RawProfile:
    """Return the memory copies in a copy trace of rocprofv3, summed up by direction. Raises Refused for bad time stamps."""
    found = RawProfile(source=Source.ROCPROF_CSV, file=str(table.path))
    columns = table.names
    size = next((columns[name] for name in ("size", "size_bytes", "bytes") if name in columns), None)
    for row in table.all_rows():
        start, end = integers(table.path, "a time stamp", (row[columns["start_timestamp"]], row[columns["end_timestamp"]]))
        found.add_copy(row[columns["direction"]], end - start, optional_integer(row[size]) if size is not None else None)
    return found


def gather_agents(table: Table) -> dict[str, Device]:
    """Return the GPUs listed in an agent_info.csv, by every name that traces may use for them. Raises Refused for a damaged
    row.
    """
    found: dict[str, Device] = {}
    nodes: dict[str, Device] = {}
    columns = table.names

    def cell(row: Row, name: str) -> str:
        return row[columns[name]] if name in columns else ""

    for row in table.all_rows():
        if cell(row, "agent_type").upper() != "GPU":
            continue
        node = cell(row, "node_id")
        device = Device(
            name=f"agent {cell(row, 'logical_node_id') or node}",
            arch=cell(row, "name"),
            product=cell(row, "product_name"),
            units=optional_integer(cell(row, "cu_count")) or None,
            partitions=optional_integer(cell(row, "num_xcc")) or None,
            clock_mhz=optional_integer(cell(row, "max_engine_clk_fcompute")) or None,
        )
        # names with --agent-index relative (the default) and type-relative, and in old versions
        found |= {device.name: device, f"gpu {len(nodes)}": device, device_key(node): device}
        nodes[f"agent {node}"] = device  # name with --agent-index absolute
    return nodes | found
