"""Read databases that Nsight Systems exports (`nsys export --type sqlite`), which have a table for each recorded activity."""

import sqlite3
from pathlib import Path
from typing import Any

from expctl.profiles.model.kernel_profile import GridUnit, Source
from expctl.profiles.raw import refusals
from expctl.profiles.raw.dispatch_stats import Appenders
from expctl.profiles.raw.extents import AXES, extent
from expctl.profiles.raw.profile import CopyTotals, RawLaunch, RawProfile
from expctl.profiles.readers.nvidia.nsys_devices import read_devices
from expctl.profiles.readers.sqlite_file import columns, open_database, quoted, tables

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
COPIES, FILLS = "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"
GRAPHS = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
_COPY_KINDS = dict(enumerate((
    "unknown direction", "host to device", "device to host", "host to array", "array to host", "array to array",
    "array to device", "device to array", "device to device", "host to host", "peer to peer",
    "unified memory, host to device", "unified memory, device to host", "unified memory, device to device",
)))  # fmt: skip
"""Names of copy kinds by number: CUPTI's (0 to 10), and those that nsys adds (ENUM_CUDA_MEMCPY_OPER)."""
_PARTS = (
    "demangledName", "shortName", "mangledName", "name", "deviceId", "globalPid", "registersPerThread", "staticSharedMemory",
    "dynamicSharedMemory", "localMemoryPerThread", *(f"grid{axis.upper()}" for axis in AXES),
    *(f"block{axis.upper()}" for axis in AXES),
)  # fmt: skip


def gather_nsys(path: Path) -> RawProfile:
    """Return all kernels and memory copies of an nsys database. Raises Refused for an unknown schema, and if it has neither
    kernels nor copies.
    """
    found = RawProfile(source=Source.NSYS, file=str(path), grid_unit=GridUnit.WORKGROUPS)
    with open_database(path) as database:
        names = tables(database)
        if KERNELS in names:
            _kernels(path, database, names, found)
        if COPIES in names:
            _copies(database, found)
        if FILLS in names:
            _fills(database, found)
        graphs = _graphs(database) if GRAPHS in names else ""
    if graphs:
        found.missing.append(f"{graphs} (profile with --cuda-graph-trace=node)")
    if not found.has_kernels and not found.copies:
        if graphs:
            raise refusals.no_kernels(path, f"an nsys database with {graphs}", "profile with --cuda-graph-trace=node")
        raise refusals.no_kernels(path, "an nsys database without CUDA kernels", "profile with nsys profile --trace=cuda")
    return found


def is_nsys(names: tuple[str, ...]) -> bool:
    """Return whether a database with the tables `names` is an export of nsys, even one without kernels."""
    return any(name.startswith("CUPTI_ACTIVITY_KIND_") for name in names) or {"StringIds", "META_DATA_EXPORT"} <= set(names)


def _kernels(path: Path, database: sqlite3.Connection, names: tuple[str, ...], found: RawProfile) -> None:
    have = columns(database, KERNELS)
    parts = [part for part in _PARTS if part.lower() in have]
    if not {"start", "end"} <= have.keys() or not any(part.endswith("Name") or part == "name" for part in parts):
        raise refusals.unknown(path, f"an nsys database whose kernels have the columns {', '.join(have)}")
    strings: dict[Any, str] = {}
    if "StringIds" in names:
        strings = {key: str(value) for key, value in database.execute("SELECT id, value FROM StringIds") if value is not None}
    shown = ", ".join(quoted(part) for part in parts)
    cursor = database.execute(f'SELECT start, "end", {shown} FROM {KERNELS}')  # noqa: S608  constant names
    devices = read_devices(database, names)
    found.devices = {device.name: device for device in devices.gpus.values()}
    device_at, process_at = (parts.index(name) if name in parts else None for name in ("deviceId", "globalPid"))
    entries: dict[tuple[Any, ...], Appenders] = {}
    try:
        for start, end, *values in cursor:
            key = tuple(values)
            if key not in entries:
                process = None if process_at is None else values[process_at]
                device = "the GPU" if device_at is None else devices.name_of(values[device_at], process)
                found.launches[key] = _launch(device, dict(zip(parts, key, strict=True)), strings)
                entries[key] = found.timing.appenders(device, key)
            if not start and not end:
                found.timing.impossible += 1
                continue
            duration_to, start_to, end_to = entries[key]
            duration_to(end - start)
            start_to(start)
            end_to(end)
    except TypeError as error:
        raise refusals.damaged(path, "a kernel whose start or end is no integer") from error
    if device_at is not None and not devices.numbers_are_unique(
        len({key[process_at] for key in entries}) if process_at is not None else 1
    ):
        found.notes.append(
            "GPUs: each process numbers its own from 0, and this database doesn't tell which GPUs the numbers mean"
        )


def _launch(device: str, values: dict[str, Any], strings: dict[Any, str]) -> RawLaunch:
    def integer(name: str) -> int | None:
        value = values.get(name)
        return value if isinstance(value, int) else None

    named = [values[part] for part in ("demangledName", "shortName", "mangledName", "name") if values.get(part) is not None]
    names = [strings.get(value, "") if isinstance(value, int) else str(value) for value in named]
    shared = [integer("staticSharedMemory"), integer("dynamicSharedMemory")]
    return RawLaunch(
        kernel=next((name for name in names if name), f"kernel {named[0] if named else '?'}"),
        device=device,
        vgpr=integer("registersPerThread"),
        lds_bytes=sum(size or 0 for size in shared) if any(size is not None for size in shared) else None,
        scratch_bytes=integer("localMemoryPerThread"),
        grid=extent([integer(f"grid{axis.upper()}") for axis in AXES]),
        workgroup=extent([integer(f"block{axis.upper()}") for axis in AXES]),
    )


def _copies(database: sqlite3.Connection, found: RawProfile) -> None:
    have = columns(database, COPIES)
    if not {"start", "end", "copykind"} <= have.keys():
        return
    size = "bytes" if "bytes" in have else "NULL"
    query = (
        f'SELECT copyKind, "end" < start, count(*), total("end" - start), total({size}) '  # noqa: S608  constant names
        f'FROM {COPIES} GROUP BY copyKind, "end" < start'
    )
    for kind, backwards, calls, time, moved in database.execute(query):
        if backwards:
            found.impossible_copies += calls
            continue
        name = _COPY_KINDS.get(kind, f"copy kind {kind}")
        found.copies[name] = CopyTotals(calls=calls, total_ns=int(time), total_bytes=int(moved) if size == "bytes" else None)


def _fills(database: sqlite3.Connection, found: RawProfile) -> None:
    have = columns(database, FILLS)
    if not {"start", "end"} <= have.keys():
        return
    size = "bytes" if "bytes" in have else "NULL"
    query = f'SELECT count(*), total("end" - start), total({size}) FROM {FILLS} WHERE "end" >= start'  # noqa: S608  constant names
    calls, time, moved = database.execute(query).fetchone()
    if calls:
        found.copies["fill"] = CopyTotals(calls=calls, total_ns=int(time), total_bytes=int(moved) if size == "bytes" else None)


def _graphs(database: sqlite3.Connection) -> str:
    """Return a remark that the kernels of CUDA graphs are missing, because nsys recorded whole graphs; "" without graphs."""
    have = columns(database, GRAPHS)
    time = 'total("end" - start)' if {"start", "end"} <= have.keys() else "0"
    calls, total = database.execute(f"SELECT count(*), {time} FROM {GRAPHS}").fetchone()  # noqa: S608  constant names
    return (
        f"the kernels in {calls} CUDA graph launches of {total / 1e6:.3f} ms, which were recorded as a whole" if calls else ""
    )
