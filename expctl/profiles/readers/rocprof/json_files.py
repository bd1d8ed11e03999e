"""Read rocprofv3's JSON, which has an entry per process in `rocprofiler-sdk-tool` and refers to kernels by ids."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from expctl.profiles.model.kernel_profile import Device, Extent, Source
from expctl.profiles.raw import refusals
from expctl.profiles.raw.extents import AXES, extent
from expctl.profiles.raw.profile import RawLaunch, RawProfile
from expctl.profiles.readers.json_file import integer, mapping, sequence

ROOT = "rocprofiler-sdk-tool"
GPU = 2
_SIZES = ("private_segment_size", "group_segment_size")


def gather_rocprof_json(path: Path, document: Mapping[str, Any]) -> list[RawProfile]:
    """Return one profile per process from a parsed JSON `document` of rocprofv3; `path` is its file. Raises Refused for damaged
    records, and when no process has kernels or memory copies.
    """
    entries = document[ROOT] if isinstance(document[ROOT], list) else [document[ROOT]]
    try:
        found = [_process(path, mapping(entry)) for entry in entries]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise refusals.damaged(path, f"a record with a missing or wrong field: {error!r}") from error
    if not any(each.has_kernels or each.copies for each in found):
        raise refusals.no_kernels(path, "rocprofv3 JSON without a dispatch", "record with rocprofv3 --kernel-trace")
    return found


def _process(path: Path, entry: dict[str, Any]) -> RawProfile:
    meta = mapping(entry.get("metadata"))
    host = str(mapping(meta.get("node")).get("hostname") or "")
    identity = f"{host} {meta.get('pid')} {meta.get('init_time')}" if "init_time" in meta else ""
    found = RawProfile(source=Source.ROCPROF_JSON, file=str(path), identity=identity, host=host)
    gpus = [agent for agent in map(mapping, sequence(entry.get("agents"))) if agent.get("type") == GPU]
    agents = {_handle(agent.get("id")): _device(agent) for agent in gpus}
    found.devices = {device.name: device for device in agents.values()}
    symbols = {symbol.get("kernel_id"): symbol for symbol in map(mapping, sequence(entry.get("kernel_symbols")))}
    records = mapping(entry.get("buffer_records"))
    _dispatches(found, sequence(records.get("kernel_dispatch")), symbols, agents)
    _counted_dispatches(found, entry, symbols, agents, timed=not found.has_kernels)
    for copy in sequence(records.get("memory_copy")):
        found.add_copy(_direction(entry, copy), copy["end_timestamp"] - copy["start_timestamp"], integer(copy.get("bytes")))
    found.notes.append("times: taken under the profiler, which adds 2 to 3 %")
    return found


def _dispatches(found: RawProfile, records: list[Any], symbols: Mapping[Any, Any], agents: Mapping[Any, Device]) -> None:
    by_device: dict[str, list[tuple[Any, int, int]]] = {}
    for record in records:
        key, device = _name_launch(found, record["dispatch_info"], symbols, agents)
        by_device.setdefault(device, []).append((key, record["start_timestamp"], record["end_timestamp"]))
    for device, rows in by_device.items():
        found.timing.add(device, rows)


def _counted_dispatches(
    found: RawProfile, entry: Mapping[str, Any], symbols: Mapping[Any, Any], agents: Mapping[Any, Device], *, timed: bool
) -> None:
    """Add the counters of each dispatch in `entry` to `found`; with `timed`, also its duration. `timed` is for files without a
    kernel trace, which gives durations otherwise.
    """
    names = {_handle(each.get("id")): str(each.get("name")) for each in map(mapping, sequence(entry.get("counters")))}
    for record in sequence(mapping(entry.get("callback_records")).get("counter_collection")):
        data = record["dispatch_data"]
        key, _ = _name_launch(found, data["dispatch_info"], symbols, agents)
        values: dict[str, float] = {}
        for each in sequence(record.get("records")):
            counter = names.get(_handle(each.get("counter_id")), str(_handle(each.get("counter_id"))))
            values[counter] = values.get(counter, 0.0) + float(each.get("value", 0))
        for counter, value in values.items():
            found.add_counter(found.launches[key].kernel, counter, value)
        if not timed:
            continue
        if "start_timestamp" in data:
            found.timing.add_isolated(key, data["end_timestamp"] - data["start_timestamp"])
        else:
            found.untimed[key] = found.untimed.get(key, 0) + 1


def _name_launch(
    found: RawProfile, info: Mapping[str, Any], symbols: Mapping[Any, Any], agents: Mapping[Any, Device]
) -> tuple[Any, str]:
    workgroup, grid = _extent(info.get("workgroup_size")), _extent(info.get("grid_size"))
    agent = _handle(info.get("agent_id"))
    device = agents[agent].name if agent in agents else f"agent {agent}"
    key = (info["kernel_id"], agent, workgroup, grid, *(info.get(size) for size in _SIZES))
    if key not in found.launches:
        symbol = mapping(symbols.get(info["kernel_id"]))
        name = symbol.get("formatted_kernel_name") or symbol.get("kernel_name") or f"kernel {info['kernel_id']}"
        found.launches[key] = RawLaunch(
            kernel=str(name),
            device=device,
            vgpr=integer(symbol.get("arch_vgpr_count")),
            accum=integer(symbol.get("accum_vgpr_count")),
            sgpr=integer(symbol.get("sgpr_count")),
            lds_bytes=integer(info.get("group_segment_size")),
            scratch_bytes=integer(info.get("private_segment_size")),
            workgroup=workgroup,
            grid=grid,
        )
    return key, device


def _extent(value: object) -> Extent | None:
    return extent([integer(value.get(axis)) for axis in AXES]) if isinstance(value, dict) else None


def _handle(value: object) -> Any:
    return value.get("handle") if isinstance(value, dict) else value


def _direction(entry: Mapping[str, Any], copy: Mapping[str, Any]) -> str:
    """Return the direction of a memory copy as text; the record `copy` has its number, `entry` the list of directions."""
    kinds = sequence(mapping(entry.get("strings")).get("buffer_records"))
    kind, operation = copy.get("kind"), copy.get("operation")
    if isinstance(kind, int) and 0 <= kind < len(kinds):
        operations = sequence(mapping(kinds[kind]).get("operations"))
        if isinstance(operation, int) and 0 <= operation < len(operations):
            return str(operations[operation])
    return f"memory copy {operation}"


def _device(agent: Mapping[str, Any]) -> Device:
    return Device(
        name=f"agent {agent.get('node_id', _handle(agent.get('id')))}",
        arch=str(agent.get("name") or ""),
        product=str(agent.get("product_name") or ""),
        units=integer(agent.get("cu_count")) or None,
        partitions=integer(agent.get("num_xcc")) or None,
        clock_mhz=integer(agent.get("max_engine_clk_fcompute")) or None,
    )
