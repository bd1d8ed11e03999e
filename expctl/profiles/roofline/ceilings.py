"""Compute where a kernel lies under the roofline of its GPU, and what bounds it, with a reason in figures.

The roofline is min(peak FLOP/s, bandwidth x FLOP per byte): Williams, Waterman, Patterson: Roofline (CACM 2009).
"""

from dataclasses import dataclass
from enum import StrEnum

from expctl.profiles.roofline.fill import Fill
from expctl.profiles.roofline.peaks import Peak

NEAR_PERCENT = 60.0
"""A kernel that uses at least this much of a limit counts as bound by it; below, it waits for something else. Our choice."""
LAUNCH_NS = 5_000.0
"""Rough time to start and drain a kernel on any GPU known here; a call no longer than that is mostly launch cost."""


class Bound(StrEnum):
    """What a kernel's speed is limited by: compute, memory, latency, the cost of launching it, or unknown."""

    COMPUTE = "compute-bound"
    MEMORY = "memory-bound"
    LATENCY = "latency-bound"
    LAUNCH = "launch-bound"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work of an average call of a kernel; `kind` is the number type of its arithmetic, e.g. `f16`.

    `flop` and `bytes_moved` are None if unknown; `bytes_least` says that more bytes may have moved. `compute_percent` and
    `memory_percent` are the use of the busiest compute and memory unit, as measured by the profiler. `from_what` are sentences
    on the source of each figure.
    """

    duration_ns: float
    flop: float | None = None
    bytes_moved: float | None = None
    bytes_least: bool = False
    kind: str = "f16"
    fill: Fill | None = None
    clock_mhz: float | None = None
    compute_percent: float | None = None
    memory_percent: float | None = None
    from_what: tuple[str, ...] = ()
    counters_hold: bool | None = True
    """Whether the counters behind bytes and memory use are right: None where nobody checked; True too where none is used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A kernel's position under the roofline, and what bounds it; a figure that can't be computed is None. Percentages are of
    the peak at the highest clock; `compute_percent_sampled` is of the peak at `clock_mhz`, the clock measured.
    """

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
    fill: Fill | None = None
    from_what: tuple[str, ...] = ()


def position(work: Work, peak: Peak | None) -> Position:
    """Return the position of a kernel with this `work` under the roofline of the rates `peak`, and what bounds it. Without
    `peak`, figures that depend on it are None.
    """
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
        fill=work.fill,
        from_what=work.from_what,
    )


def _bound(work: Work, compute: float | None, memory: float | None) -> tuple[Bound, str]:
    """Return what bounds the kernel, and the reason in words. `compute` and `memory` are computed percentages of the peak, used
    where the profiler measured none.
    """
    by_compute, by_memory = _first(work.compute_percent, compute), _first(work.memory_percent, memory)
    top = max(by_compute or 0.0, by_memory or 0.0)
    if work.duration_ns <= LAUNCH_NS and top < NEAR_PERCENT:
        return Bound.LAUNCH, f"a call takes {work.duration_ns / 1e3:.1f} us, about what starting a kernel costs"
    few = work.fill is not None and work.fill.leaves_most_empty
    if by_compute is None and by_memory is None:
        if few:
            return Bound.LATENCY, _few_text(work)
        return Bound.UNKNOWN, "neither FLOP nor bytes are known: give --size or --moves, or profile with counters"
    measured = work.compute_percent is not None or work.memory_percent is not None
    least = work.bytes_least and work.memory_percent is None
    usage = _usage_text(by_compute, by_memory, measured=measured, least=least)
    if top >= NEAR_PERCENT:
        if (by_compute or 0.0) >= (by_memory or 0.0):
            return Bound.COMPUTE, usage
        if least and (by_memory or 0.0) > 100:
            return Bound.UNKNOWN, f"{usage}, more than there is: caches give some, and how much isn't known"
        if work.counters_hold is False:
            return Bound.UNKNOWN, f"{usage} by counters that are wrong for a copy of known size"
        return Bound.MEMORY, usage if work.counters_hold else f"{usage}, by uncalibrated counters"
    if few:
        return Bound.LATENCY, f"{usage}; {_few_text(work)}"
    if by_compute is None or by_memory is None:
        return Bound.UNKNOWN, f"{usage}; the other limit isn't known"
    if least:
        hint = "profile with FETCH_SIZE and WRITE_SIZE, or give --moves"
        return Bound.UNKNOWN, f"{usage}; how much more moved isn't known: {hint}"
    return Bound.LATENCY, f"{usage}: neither limit is near"


def _few_text(work: Work) -> str:
    return f"{work.fill.groups} workgroups leave most of {work.fill.units} {work.fill.unit}s empty" if work.fill else ""


def _usage_text(compute: float | None, memory: float | None, *, measured: bool, least: bool) -> str:
    names = ("the SMs' busiest unit", "the memory system's") if measured else ("the arithmetic", "the memory bandwidth")
    figures = zip((compute, memory), ("", "at least " if least else ""), names, strict=True)
    parts = [f"{word}{value:.0f} % of {name}" for value, word, name in figures if value is not None]
    return f"{' and '.join(parts)} used"


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _percent(value: float | None, most: float | None) -> float | None:
    return 100 * value / most if value is not None and most else None
