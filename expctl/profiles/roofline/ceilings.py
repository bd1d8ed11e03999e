"""Where a kernel stands under the roofline of its device, and what bounds it, with the reason in figures.

Williams, Waterman, Patterson: Roofline (CACM 2009). The roof is min(peak FLOP/s, bandwidth x FLOP per byte).
"""

from dataclasses import dataclass
from enum import StrEnum

from expctl.profiles.roofline.peaks import Peak

NEAR_PERCENT = 60.0
"""A limit that is used this much is what holds the kernel back; less, and it waits for something else."""
LAUNCH_NS = 5_000.0
"""Starting a kernel and draining it costs this order of time on every GPU here; a call that is no longer is mostly that."""


class Bound(StrEnum):
    """What a kernel waits for."""

    COMPUTE = "compute-bound"
    MEMORY = "memory-bound"
    LATENCY = "latency-bound"
    LAUNCH = "launch-bound"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One call on average. `flop` and `bytes_moved` are None where neither counters nor the user say; `kind` is the number
    type.

    `compute_percent` and `memory_percent` are a profiler's own measure of the busiest unit of each sort. `from_what` names
    where flop and bytes come from; `bytes_least` says that more may have moved.
    """

    duration_ns: float
    flop: float | None = None
    bytes_moved: float | None = None
    bytes_least: bool = False
    kind: str = "f16"
    groups: int | None = None
    units: int | None = None
    clock_mhz: float | None = None
    compute_percent: float | None = None
    memory_percent: float | None = None
    from_what: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A point under the roof. Percentages are of the limits at the highest clock; `..._sampled` of those at the clock of the
    run."""

    bound: Bound
    reason: str
    kind: str = ""
    tflops: float | None = None
    gbs: float | None = None
    flop_per_byte: float | None = None
    roof_tflops: float | None = None
    compute_percent: float | None = None
    memory_percent: float | None = None
    clock_mhz: float | None = None
    compute_percent_sampled: float | None = None
    from_what: tuple[str, ...] = ()


def position(work: Work, peak: Peak | None) -> Position:
    """Rates, percentages of the limits, and what bounds the kernel. Unknown stays unknown."""
    tflops = work.flop / work.duration_ns / 1e3 if work.flop is not None and work.duration_ns > 0 else None
    gbs = work.bytes_moved / work.duration_ns if work.bytes_moved is not None and work.duration_ns > 0 else None
    intensity = work.flop / work.bytes_moved if work.flop and work.bytes_moved else None
    most = peak.tflops(work.kind) if peak else None
    bandwidth = peak.bandwidth_gbs if peak else None
    compute = _percent(tflops, most)
    memory = _percent(gbs, bandwidth)
    sampled = _percent(tflops, peak.tflops(work.kind, work.clock_mhz)) if peak and work.clock_mhz else None
    bound, reason = _bound(work, compute, memory)
    return Position(
        bound=bound,
        reason=reason,
        kind=work.kind if work.flop is not None else "",
        tflops=tflops,
        gbs=gbs,
        flop_per_byte=intensity,
        roof_tflops=min(most, bandwidth * intensity / 1e3) if most and bandwidth and intensity else None,
        compute_percent=compute,
        memory_percent=memory,
        clock_mhz=work.clock_mhz,
        compute_percent_sampled=sampled,
        from_what=work.from_what,
    )


def _bound(work: Work, compute: float | None, memory: float | None) -> tuple[Bound, str]:
    """The profiler's own percentages go first: they see every unit, not only arithmetic and DRAM."""
    by_compute, by_memory = _first(work.compute_percent, compute), _first(work.memory_percent, memory)
    top = max(by_compute or 0.0, by_memory or 0.0)
    if work.duration_ns <= LAUNCH_NS and top < NEAR_PERCENT:
        return Bound.LAUNCH, f"a call takes {work.duration_ns / 1e3:.1f} us, about what starting a kernel costs"
    few = work.groups is not None and work.units is not None and work.groups < work.units
    if by_compute is None and by_memory is None:
        if few:
            return Bound.LATENCY, f"{work.groups} workgroups leave most of {work.units} units empty"
        return Bound.UNKNOWN, "neither FLOP nor bytes are known: give --size or --moves, or profile with counters"
    measured = work.compute_percent is not None or work.memory_percent is not None
    least = work.bytes_least and work.memory_percent is None
    said = _said(by_compute, by_memory, measured=measured, least=least)
    if top >= NEAR_PERCENT:
        return (Bound.COMPUTE if (by_compute or 0.0) >= (by_memory or 0.0) else Bound.MEMORY), said
    if few:
        return Bound.LATENCY, f"{said}; {work.groups} workgroups leave most of {work.units} units empty"
    if by_compute is None or by_memory is None:
        return Bound.UNKNOWN, f"{said}; the other limit isn't known"
    if least:
        return (
            Bound.UNKNOWN,
            f"{said}; how much more moved isn't known: profile with FETCH_SIZE and WRITE_SIZE, or give --moves",
        )
    return Bound.LATENCY, f"{said}: neither limit is near"


def _said(compute: float | None, memory: float | None, *, measured: bool, least: bool) -> str:
    """`measured` by the profiler: then the figures are of the busiest unit of either sort, issue slots and caches among
    them."""
    names = ("the SMs' busiest unit", "the memory system's") if measured else ("the arithmetic", "the memory bandwidth")
    figures = zip((compute, memory), ("", "at least " if least else ""), names, strict=True)
    parts = [f"{word}{value:.0f} % of {name}" for value, word, name in figures if value is not None]
    return f"{' and '.join(parts)} used"


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _percent(value: float | None, most: float | None) -> float | None:
    return 100 * value / most if value is not None and most else None
