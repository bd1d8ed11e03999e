"""Evaluate kernels on their GPU: occupancy, FLOP/s and bytes per second, position under the roofline, what bounds them."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from expctl.gpu.architectures import ARCHITECTURES, ModeName
from expctl.profiles.assemble.calibration import Calibration, calibrate, counted_bytes
from expctl.profiles.assemble.launches import Occupancies
from expctl.profiles.model.kernel_profile import Device, Kernel, Profile, Source
from expctl.profiles.model.pipeline import main_gemm
from expctl.profiles.roofline.ceilings import Position, Work, position
from expctl.profiles.roofline.fill import Fill, fill_of
from expctl.profiles.roofline.peaks import Peak, peak_of

BYTES_OF = {"f64": 8, "f32": 4, "tf32": 4, "f16": 2, "bf16": 2, "f8": 1, "i8": 1}
SM_BUSY = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
MEMORY_BUSY = (
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
)
CLOCKS_HZ = ("gpc__cycles_elapsed.avg.per_second", "smsp__cycles_elapsed.avg.per_second")
ACTIVE_CYCLES = "GRBM_GUI_ACTIVE"
LEAST = "bytes: each matrix once, the least there can be"
LEAST_OF_SHAPES = "bytes: each operand of the recorded shapes once, the least there can be"
FLOP_OF_SIZE = "FLOP: 2 M N K of --size"
ASSUMED = "arithmetic assumed f16 (--types)"
TF32 = re.compile(r"tf32|xf32", re.IGNORECASE)
"""Products of f32 whose kernels say that they multiply in tf32."""
CLOCK_NEEDS_NS = 50_000
"""Shortest kernel whose clock is computed from GRBM_GUI_ACTIVE, which also counts a few microseconds around the kernel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What the user states about the problem that the kernels solve; None where nothing is stated. `size` is (M, N, K), `types`
    are those of A, B and C; `moves` are pairs of a pattern for kernel names and the bytes that one call moves.
    """

    size: tuple[int, int, int] | None = None
    types: tuple[str, str, str] = ("f16", "f16", "f16")
    types_given: bool = False
    moves: tuple[tuple[re.Pattern[str], int], ...] = ()
    clock_mhz: float | None = None
    bandwidth_gbs: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Kernels with their occupancy, their roofline positions by kernel name, and the GPU's peak rates (None if unknown)."""

    kernels: tuple[Kernel, ...]
    positions: Mapping[str, Position]
    peak: Peak | None


def analyse(profile: Profile, kernels: Sequence[Kernel], problem: Problem) -> Analysis:
    """Compute occupancies and roofline positions of `kernels`, which are all or some of the profile's kernels."""
    device = profile.devices[0] if profile.devices else Device(name="")
    alike = {(each.arch, each.product) for each in profile.devices}
    peak = peak_of(device.arch, device.product, device.units, device.clock_mhz) if len(alike) == 1 else None
    if peak and problem.bandwidth_gbs:
        peak = replace(peak, bandwidth_gbs=problem.bandwidth_gbs)
    main = main_gemm(profile.kernels)
    stated = {kernel.name: float(moved) for kernel in profile.kernels if (moved := _stated_bytes(kernel, problem)) is not None}
    calibration = calibrate(stated, profile.kernels)
    positions = {}
    occupied = with_occupancy(profile, kernels)
    for kernel in occupied:
        if kernel.mean_ns:
            is_main = main is not None and kernel.name == main.name
            work = work_of(profile, kernel, problem, device, calibration, is_main=is_main)
            positions[kernel.name] = position(work, peak)
    worked = tuple(
        replace(
            kernel,
            results=_results(kernel, problem, is_main=main is not None and kernel.name == main.name),
            peak_percent=positions[kernel.name].compute_percent if kernel.name in positions else None,
        )
        for kernel in occupied
    )
    return Analysis(kernels=worked, positions=positions, peak=peak)


def with_occupancy(profile: Profile, kernels: Sequence[Kernel] | None = None) -> tuple[Kernel, ...]:
    """Return `kernels` (None: all of the profile) with their occupancy filled in, computed for the launch with the most time.
    It stays unknown where the profile's GPUs are of different architectures.
    """
    arch = profile.devices[0].arch if len({each.arch for each in profile.devices}) == 1 else ""
    units = profile.devices[0].units if len({each.units for each in profile.devices}) == 1 else None
    occupancies = Occupancies()
    found = []
    for kernel in profile.kernels if kernels is None else kernels:
        occupancy, note = occupancies.compute(kernel.launch, arch)
        found.append(replace(kernel, occupancy=occupancy, occupancy_note=note, units=units))
    return tuple(found)


def work_of(
    profile: Profile, kernel: Kernel, problem: Problem, device: Device, calibration: Calibration, *, is_main: bool
) -> Work:
    """Return the FLOP, bytes and duration (ns) of an average call of `kernel`, and where each figure is from. M, N and K in
    `problem` are used only if `is_main` is true, because they describe the GEMM with the most time. `calibration` tells how far
    byte counters can be trusted.
    """
    duration = kernel.mean_ns or 0.0
    moved, moved_from = _bytes(kernel, problem, duration, is_main=is_main)
    flop, kind, flop_from = _flop(kernel, problem, is_main=is_main)
    counters = kernel.counters
    memory_busy = next((counters[name] for name in MEMORY_BUSY if name in counters), None)
    counted = memory_busy is not None or (moved is not None and moved_from == counted_bytes(counters, duration)[1])
    sources = [moved_from] if moved_from else []
    sources += [calibration.words] if counted else []
    sources += [flop_from] if flop_from else []
    clock, clock_from = _clock(profile, kernel, problem, device)
    sources += [clock_from] if clock_from else []
    return Work(
        duration_ns=duration,
        flop=flop,
        bytes_moved=moved,
        bytes_least=moved_from in (LEAST, LEAST_OF_SHAPES),
        kind=kind,
        fill=_fill(kernel, device.arch),
        clock_mhz=clock,
        compute_percent=counters.get(SM_BUSY),
        memory_percent=memory_busy,
        from_what=tuple(sources),
        counters_hold=calibration.holds if counted else True,
    )


def _fill(kernel: Kernel, arch: str) -> Fill | None:
    """Return how the launch with the most time fills the GPU. Where workgroups run on pairs of CUs (WGPs), as compilers have it
    for RDNA unless told otherwise, pairs are counted.
    """
    gpu = ARCHITECTURES.get(arch)
    mode = gpu.modes[0].name if gpu else None
    units = kernel.units // 2 if mode is ModeName.WGP and kernel.units else kernel.units
    resident = kernel.occupancy.resident[0] if kernel.occupancy else None
    return fill_of(
        kernel.launch.groups,
        units,
        unit=mode.value if mode else "unit",
        per_unit=resident.workgroups if resident else None,
        resident_percent=resident.percent if resident else None,
    )


def _stated_bytes(kernel: Kernel, problem: Problem) -> int | None:
    return next((count for pattern, count in problem.moves if pattern.search(kernel.name)), None)


def _bytes(kernel: Kernel, problem: Problem, duration: float, *, is_main: bool) -> tuple[float | None, str]:
    if (stated := _stated_bytes(kernel, problem)) is not None:
        return float(stated), "bytes: --moves"
    counted, counted_from = counted_bytes(kernel.counters, duration)
    if counted is not None:
        return counted, counted_from
    if problem.size and is_main and problem.types_given:
        m, n, k = problem.size
        a, b, c = (BYTES_OF[each] for each in problem.types)
        return float(m * k * a + k * n * b + m * n * c), LEAST
    bytes_least = [origin.bytes_least for origin in kernel.origins]
    if bytes_least and None not in bytes_least:
        return math.fsum(each or 0.0 for each in bytes_least) / kernel.calls, LEAST_OF_SHAPES
    return None, ""


def _flop(kernel: Kernel, problem: Problem, *, is_main: bool) -> tuple[float | None, str, str]:
    """Return the FLOP of an average call, the number type of the arithmetic, and where the FLOP are from; (None, type, "")
    where they aren't known. Shapes recorded for all calls of the kernel are used, unless the user states its problem.
    """
    a, b, _ = problem.types
    kind = max(a, b, key=lambda each: BYTES_OF[each])
    if problem.size and is_main:
        return 2.0 * math.prod(problem.size), kind, FLOP_OF_SIZE if problem.types_given else f"{FLOP_OF_SIZE}; {ASSUMED}"
    flop = [origin.flop for origin in kernel.origins]
    kinds = {origin.kind for origin in kernel.origins}
    if not flop or None in flop or len(kinds) > 1:
        return None, kind, ""
    recorded = kinds.pop()
    if recorded == "f32" and TF32.search(kernel.name):
        recorded = "tf32"
    words = f"FLOP: recorded shapes of {kernel.origins[0].operator}, {recorded}"
    return math.fsum(each or 0.0 for each in flop) / kernel.calls, recorded, words


def _results(kernel: Kernel, problem: Problem, *, is_main: bool) -> float | None:
    if problem.size and is_main:
        return float(problem.size[0] * problem.size[1])
    known = [origin.results for origin in kernel.origins]
    return math.fsum(each or 0.0 for each in known) / kernel.calls if known and None not in known else None


def _clock(profile: Profile, kernel: Kernel, problem: Problem, device: Device) -> tuple[float | None, str]:
    if problem.clock_mhz:
        return problem.clock_mhz, "clock: --clock"
    for name in CLOCKS_HZ:
        if name in kernel.counters:
            return kernel.counters[name] / 1e6, "clock: sampled by ncu"
    cycles, duration = kernel.counters.get(ACTIVE_CYCLES), kernel.mean_ns or 0.0
    if cycles and profile.source is Source.ROCPROF_COUNTERS and duration >= CLOCK_NEEDS_NS:
        clock_mhz = cycles / (device.partitions or 1) / duration * 1e3
        return clock_mhz, f"clock: {ACTIVE_CYCLES} over the duration, an upper estimate"
    return None, ""
