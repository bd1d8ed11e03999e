"""Read rocpd databases of rocprofv3 from their tables `rocpd_<what>_<guid>`, never through their views.

The views silently leave out a dispatch whose region, thread or event is NULL. Columns are looked up, because databases that all
call themselves schema 3 name them differently.
"""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from expctl.profiles.model.kernel_profile import Device, Source
from expctl.profiles.raw import refusals
from expctl.profiles.raw.extents import AXES, extent
from expctl.profiles.raw.profile import CopyTotals, CounterTotals, RawLaunch, RawProfile
from expctl.profiles.readers.json_file import integer, mapping
from expctl.profiles.readers.rocprof.rocpd_dispatches import DeviceColumn, read_dispatches
from expctl.profiles.readers.rocprof.rocpd_tables import DISPATCH, Tables, by_column
from expctl.profiles.readers.sqlite_file import open_database, tables

_COUNTS = ("dispatches:", "replays:", "names:")
"""First words of notes that contain a number; with several processes, each such note names its process."""


def gather_rocpd(path: Path) -> list[RawProfile]:
    """Return one profile per process in a rocpd database. Raises Refused for another schema, and if it has no dispatches."""
    with open_database(path) as database:
        names = tables(database)
        suffixes = _processes(names)
        if not suffixes:
            raise _other_schema(path, names)
        found = [_process(Tables(database=database, path=path, suffix=suffix)) for suffix in suffixes]
        if len(found) > 1:
            for each in found:
                each.notes = [f"{note} (process {each.identity})" if note.startswith(_COUNTS) else note for note in each.notes]
    if not any(each.has_kernels or each.copies for each in found):
        raise refusals.no_kernels(path, "a rocpd database without a dispatch", "record with rocprofv3 --kernel-trace")
    return found


def _process(source: Tables) -> RawProfile:
    found = RawProfile(source=Source.ROCPD, file=str(source.path), identity=source.suffix.strip("_").replace("_", "-"))
    found.host = next((str(row.get("hostname") or "") for row in source.rows("info_node")), "")
    agents = {row.get("id"): _device(row) for row in source.rows("info_agent") if row.get("type") == "GPU"}
    found.devices = {device.name: device for device in agents.values()}
    have = source.columns("kernel_dispatch")
    if missing := [name for name in ("kernel_id", "start", "end", "id") if name not in have]:
        raise refusals.unknown(
            source.path, f"a rocpd database whose table of dispatches lacks the columns {', '.join(missing)}"
        )
    column = _device_column(source, have, agents)
    dispatches = read_dispatches(source, have, column)
    found.timing = dispatches.timing
    _describe(source, found, dispatches.firsts, column)
    _copies(source, found)
    _counters(source, found, have)
    found.notes.append("times: taken under the profiler, which adds 2 to 3 %")
    if dispatches.replays:
        found.notes.append(
            f"replays: {dispatches.replays} dispatches repeat others to collect counters; they are no calls, nor in the times"
        )
    if dispatches.hidden:
        found.notes.append(
            f"dispatches: the database's own `kernels` view hides {dispatches.hidden} of {dispatches.rows} "
            "(no region, thread or event); they are read here"
        )
    return found


def _processes(names: Collection[str]) -> list[str]:
    """Return the suffixes of the table names in `names`; each process has its own set of tables with its own suffix."""
    endings = [name.removeprefix(DISPATCH) for name in names if name.startswith(DISPATCH)]
    return [each for each in endings if f"rocpd_info_kernel_symbol{each}" in names] or endings


def _device_column(source: Tables, have: Mapping[str, bool], agents: Mapping[Any, Device]) -> DeviceColumn:
    """Return the column of the dispatch table that tells the GPU: `agent_id`, or `track_id` in newer databases. `have` are that
    table's columns, `agents` the GPUs by id.
    """
    names = {agent: device.name for agent, device in agents.items()}
    if "agent_id" in have or "track_id" not in have:
        return DeviceColumn(column="agent_id" if "agent_id" in have else "", names=names)
    tracks = {row.get("id"): names[row["agent_id"]] for row in source.rows("track") if row.get("agent_id") in names}
    return DeviceColumn(column="track_id", names=tracks)


def _describe(source: Tables, found: RawProfile, firsts: Mapping[Any, int], column: DeviceColumn) -> None:
    symbols = {row.get("id"): row for row in source.rows("info_kernel_symbol")}
    nameless = 0
    query = f"SELECT * FROM {source.name('kernel_dispatch')} WHERE id = ?"  # noqa: S608
    for key, dispatch in firsts.items():
        row = next(by_column(source.database.execute(query, (dispatch,))))
        symbol = symbols.get(row.get("kernel_id"), {})
        nameless += 0 if symbol else len(found.timing.durations.get(key, ()))
        found.launches[key] = _launch(row, symbol, column)
    if nameless:
        found.notes.append(f"names: {nameless} dispatches name a kernel that the database doesn't list")


def _launch(row: Mapping[str, Any], symbol: Mapping[str, Any], column: DeviceColumn) -> RawLaunch:
    def of(values: Mapping[str, Any], *names: str) -> int | None:
        return next((values[name] for name in names if isinstance(values.get(name), int)), None)

    name = symbol.get("display_name") or symbol.get("kernel_name") or f"kernel {row.get('kernel_id')}"
    return RawLaunch(
        kernel=str(name),
        device=column.name_of(row.get(column.column)),
        vgpr=of(symbol, "arch_vgpr_count", "vgpr_count"),
        accum=of(symbol, "accum_vgpr_count"),
        sgpr=of(symbol, "sgpr_count"),
        lds_bytes=of(row, "group_segment_size", "lds_block_size", "lds_size"),
        scratch_bytes=of(row, "private_segment_size", "scratch_size"),
        workgroup=extent([of(row, f"workgroup_size_{axis}", f"workgroup_{axis}") for axis in AXES]),
        grid=extent([of(row, f"grid_size_{axis}", f"grid_{axis}") for axis in AXES]),
    )


def _device(row: Mapping[str, Any]) -> Device:
    """Return the GPU that a row of `info_agent` describes; most facts are JSON in its column `extdata`."""
    try:
        facts = json.loads(row.get("extdata") or "{}")
    except (ValueError, TypeError, RecursionError):
        facts = {}

    def fact(name: str) -> int | None:
        value = integer(mapping(facts).get(name))
        return value if value and value > 0 else None

    return Device(
        name=f"agent {row.get('absolute_index', row.get('id'))}",
        arch=str(row.get("name") or ""),
        product=str(row.get("product_name") or ""),
        units=fact("cu_count"),
        partitions=fact("num_xcc"),
        clock_mhz=fact("max_engine_clk_fcompute"),
    )


def _copies(source: Tables, found: RawProfile) -> None:
    have = source.columns("memory_copy")
    if not {"start", "end", "name_id", "size"} <= have.keys() or not source.columns("string"):
        return
    query = (
        f'SELECT S.string, M."end" < M.start, count(*), total(M."end" - M.start), total(M.size) '  # noqa: S608
        f"FROM {source.name('memory_copy')} M LEFT JOIN {source.name('string')} S ON S.id = M.name_id "
        f'GROUP BY M.name_id, M."end" < M.start'
    )
    for name, backwards, calls, time, size in source.database.execute(query):
        if backwards:
            found.impossible_copies += calls
            continue
        moved = found.copies.setdefault(str(name or "memory copy"), CopyTotals())
        moved.calls += calls
        moved.total_ns += int(time)
        moved.total_bytes = (moved.total_bytes or 0) + int(size)


def _counters(source: Tables, found: RawProfile, have: Mapping[str, bool]) -> None:
    """Add the counters of each kernel to `found`: their totals and the number of dispatches with them. Samples that were
    streamed during a kernel don't count. `have` are the columns of the dispatch table.
    """
    if "event_id" not in have or not source.columns("pmc_event") or not source.columns("info_pmc"):
        return
    whole = "WHERE E.sample_id IS NULL " if "sample_id" in source.columns("pmc_event") else ""
    query = (
        f"SELECT K.kernel_id, I.name, count(DISTINCT K.id), total(E.value) FROM {source.name('pmc_event')} E "  # noqa: S608
        f"JOIN {source.name('info_pmc')} I ON I.id = E.pmc_id "
        f"JOIN {source.name('kernel_dispatch')} K ON K.event_id = E.event_id {whole}GROUP BY K.kernel_id, I.name"
    )
    names = {row.get("id"): str(row.get("display_name") or row.get("kernel_name")) for row in source.rows("info_kernel_symbol")}
    for kernel, counter, calls, total in source.database.execute(query):
        counted = found.counters.setdefault(names.get(kernel, f"kernel {kernel}"), {}).setdefault(str(counter), CounterTotals())
        counted.total += total
        counted.calls += calls


def _other_schema(path: Path, names: tuple[str, ...]) -> Exception:
    if "rocpd_op" in names or "rocpd_api" in names:
        return refusals.unknown(
            path, "a database of rocmProfileData (RPD), which is not read", "profile with rocprofv3 --kernel-trace"
        )
    if {"rocprof_data", "A"} & set(names) or any(name.lower() in ("kern", "ops", "hip", "hsa") for name in names):
        return refusals.unknown(path, "a results.db of rocprof v1, which is not read", "profile with rocprofv3 --kernel-trace")
    if any(name.startswith("rocpd_") for name in names):
        return refusals.no_kernels(
            path, "a rocpd database without a table of dispatches", "record with rocprofv3 --kernel-trace"
        )
    return refusals.unknown(path, f"a database with the tables {', '.join(names[:6]) or '(none)'}")
