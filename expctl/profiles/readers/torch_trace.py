"""Read Chrome traces of torch.profiler (Kineto) on ROCm and CUDA; their times are microseconds with three decimals."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from expctl.domain.text import one_line
from expctl.profiles.model.kernel_profile import Device, GridUnit, Source
from expctl.profiles.raw import refusals
from expctl.profiles.raw.extents import extent
from expctl.profiles.raw.profile import RawLaunch, RawProfile
from expctl.profiles.readers.json_file import integer, mapping, sequence
from expctl.profiles.readers.torch_host import HOST, Operator, OwnTime, own_times
from expctl.profiles.readers.torch_origins import Launched, origins_of
from expctl.profiles.roofline.peaks import arch_of

KERNEL, COPIES = "kernel", ("gpu_memcpy", "gpu_memset", "memcpy", "memset")
MOST_US = 2**53
EPOCH_US = 10**15
"""A larger time stamp (us) counts from 1970; tools write it as a double, which resolves 0.25 us at that size."""


def is_trace(document: object) -> bool:
    """Return whether a JSON document has the form of a Chrome trace."""
    events = document.get("traceEvents") if isinstance(document, dict) else document
    return isinstance(events, list) and all(isinstance(each, dict) and ("ph" in each or not each) for each in events[:100])


def gather_torch(path: Path, document: Any) -> RawProfile:
    """Return all kernels and memory copies of a torch.profiler trace; `document` is the parsed JSON of the file `path`. Raises
    Refused for a trace without any of them, and for times that aren't numbers.
    """
    facts = mapping(document)
    events = sequence(document if isinstance(document, list) else facts.get("traceEvents"))
    devices = [_device(each) for each in map(mapping, sequence(facts.get("deviceProperties")))]
    rocm = any("AMD" in device.product for device in devices) or bool(
        {"roctracer_version", "hip_runtime_version"} & facts.keys()
    )
    found = RawProfile(source=Source.TORCH, file=str(path), identity=str(facts.get("trace_id") or ""))
    found.devices = {device.name: device for device in devices}
    by_device: dict[str, list[tuple[Any, int, int]]] = {}
    launched: list[Launched] = []
    rounded = False
    for event in events:
        category = str(event.get("cat", "")).lower() if isinstance(event, dict) else ""
        if category not in (KERNEL, *COPIES) or event.get("ph") != "X":
            continue
        start, duration = _ns(path, event, "ts"), _ns(path, event, "dur")
        rounded = rounded or start > EPOCH_US * 1000
        arguments = mapping(event.get("args"))
        if category in COPIES:
            found.add_copy(str(event.get("name", category)), duration, integer(arguments.get("bytes")))
            continue
        launch = _launch(event, arguments)
        found.launches[launch] = launch
        ids = (integer(arguments.get("correlation")), integer(arguments.get("External id")))
        launched.append(Launched(launch.kernel, duration, *ids))
        by_device.setdefault(launch.device, []).append((launch, start, start + duration))
    if not by_device and not found.copies and facts.get("deviceProperties") == [] and (own := _own(path, events)):
        by_device[HOST] = [(RawLaunch(kernel=each.name, device=HOST), each.start_ns, each.end_ns) for each in own]
    for device, rows in by_device.items():
        rows.sort(key=lambda row: row[1])
        found.timing.add(device, rows)
    found.launches = {launch: launch for rows in by_device.values() for launch, _, _ in rows}
    found.origins = origins_of(events, launched)
    found.grid_unit = GridUnit.WORKGROUPS if not rocm and _is_cuda(devices, found) else GridUnit.UNSURE
    _describe(path, found, events, rocm=rocm, rounded=rounded, host=HOST in by_device)
    return found


def _own(path: Path, events: Sequence[Any]) -> list[OwnTime]:
    """Return the own times of a host's operators."""
    operators = (each for each in events if isinstance(each, dict) and each.get("cat") == "cpu_op" and each.get("ph") == "X")
    threads: dict[str, list[Operator]] = {}
    for each in operators:
        start = _ns(path, each, "ts")
        operator = Operator(str(each.get("name", "")), start, start + _ns(path, each, "dur"))
        threads.setdefault(f"{each.get('pid')} {each.get('tid')}", []).append(operator)
    return [own for operators in threads.values() for own in own_times(operators)]


def _describe(path: Path, found: RawProfile, events: list[Any], *, rocm: bool, rounded: bool, host: bool) -> None:
    if not found.has_kernels and not found.copies:
        if any({"BeginNs", "EndNs"} <= mapping(mapping(event).get("args")).keys() for event in events):
            raise refusals.unknown(path, "a trace of rocprof v1, which is not read", "profile with rocprofv3 --kernel-trace")
        what = f"a trace of {len(events)} events without a kernel" if events else "a trace without events"
        raise refusals.no_kernels(path, what, "profile with ProfilerActivity.CUDA, also on ROCm")
    if rocm and not any(raw.vgpr for raw in found.launches.values()):
        found.missing.append("registers, LDS and scratch (torch.profiler writes none on ROCm: profile with rocprofv3)")
    if found.grid_unit is GridUnit.UNSURE:
        found.notes.append(
            "grid: counted in workgroups or in work-items, as the kernel was launched; the trace doesn't say which"
        )
    if host:
        found.notes.append("no GPU: times are those of torch's operators on the CPU, without the operators that they call")
    if rounded:
        found.notes.append("time stamps: in us since 1970 as doubles, so gaps are only good to 0.25 us; durations are exact")


def _is_cuda(devices: Sequence[Device], found: RawProfile) -> bool:
    """Return whether the run used CUDA, told by the GPU's name, or without one by register counts, which ROCm traces lack."""
    if devices:
        return any(device.arch.startswith("sm_") or "NVIDIA" in device.product for device in devices)
    return any(raw.vgpr is not None for raw in found.launches.values())


def _launch(event: Mapping[str, Any], arguments: Mapping[str, Any]) -> RawLaunch:
    device = arguments.get("device", event.get("pid"))
    return RawLaunch(
        kernel=str(event.get("name", "")),
        device=f"device {device}",
        vgpr=integer(arguments.get("registers per thread")),
        lds_bytes=integer(arguments.get("shared memory")),
        grid=_extent(arguments.get("grid")),
        workgroup=_extent(arguments.get("block")),
    )


def _extent(value: object) -> tuple[int, int, int] | None:
    return extent([integer(each) for each in value]) if isinstance(value, list) and len(value) == 3 else None


def _ns(path: Path, event: Mapping[str, Any], field: str) -> int:
    """Return the time in `event[field]`, given in us as an integer or decimal text, in ns. Raises Refused for other values."""
    value = event.get(field)
    if isinstance(value, int) and abs(value) < MOST_US:
        return value * 1000
    try:
        before, _, after = str(value).partition(".")
        if len(after) == 3 and after.isdigit() and before.isdigit() and len(before) <= 16:
            return int(before) * 1000 + int(after)
        exact = Decimal(str(value))
        if -MOST_US < exact < MOST_US:
            return round(exact * 1000)
    except (ArithmeticError, ValueError):
        pass
    raise refusals.damaged(path, f"a kernel or copy whose {field} is {one_line(str(value), 60)}, where microseconds belong")


def _device(facts: Mapping[str, Any]) -> Device:
    product = str(facts.get("name") or "")
    major, minor = integer(facts.get("computeMajor")), integer(facts.get("computeMinor"))
    nvidia = "NVIDIA" in product or "Tesla" in product or "GeForce" in product
    return Device(
        name=f"device {facts.get('id', 0)}",
        arch=f"sm_{major}{minor}" if nvidia and major is not None else arch_of(product),
        product=product,
        units=integer(facts.get("numSms")) or None,
    )
