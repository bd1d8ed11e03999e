"""Noise limits: how much the figures of two profiles must differ before the difference counts as real.

They are about twice the largest differences between ten captures of one kernel and two of another
(benchmarks/profiles/captures): 0.78 % in time, 0.25 % in cycles, 0.75 % in clock, 0.6 % in bank conflicts, none in counts of
instructions and sectors.
"""

import math

from expctl.profiles.diff.kernel_evidence import KernelEvidence

TIME_PERCENT = 1.5
CYCLES_PERCENT = 0.5
CLOCK_PERCENT = 1.5
COUNT_PERCENT = 2.0
ONE_CALL_PERCENT = 10.0
"""Least change of time that counts where a profile has a single call, whose spread isn't known."""
DEVIATIONS = 3.0
"""Least difference of two mean times that counts, in standard errors."""


def ratio(before: float | None, after: float | None) -> float | None:
    """Return after / before; None where either is None or not positive."""
    return after / before if before is not None and after is not None and before > 0 and after > 0 else None


def is_about(value: float | None, percent: float) -> bool:
    """Return whether the ratio `value` is within 1 / f to f, where f = 1 + `percent` / 100; False for None."""
    return value is not None and abs(math.log(value)) <= math.log1p(percent / 100)


def differs(value: float | None, percent: float) -> bool:
    """Return whether the ratio `value` is below 1 / f or above f, where f = 1 + `percent` / 100; False for None."""
    return value is not None and not is_about(value, percent)


def slowdown(before: KernelEvidence, after: KernelEvidence) -> float | None:
    """Return how many times as long a kernel takes after as before, in cycles where known, else in time. Returns None if that
    is unknown or the change is within the noise.
    """
    time, cycles = ratio(before.time_ns, after.time_ns), ratio(before.cycles, after.cycles)
    if time is None:
        return None
    if cycles is not None and differs(cycles, CYCLES_PERCENT) and differs(time, CYCLES_PERCENT) and (cycles > 1) == (time > 1):
        return cycles if _stands_out(before, after) else None
    least = _least_percent(before, after)
    return time if cycles is None and differs(time, least) and _stands_out(before, after) else None


def _least_percent(before: KernelEvidence, after: KernelEvidence) -> float:
    return ONE_CALL_PERCENT if min(before.calls, after.calls) == 1 else TIME_PERCENT


def clock_change(before: KernelEvidence, after: KernelEvidence) -> float | None:
    """Return the GPU's clock after / before if the clock explains most of a change of time; else None. It does if the time
    changed more than noise, and the log of the ratio of cycles is at most a third of that of times.
    """
    time, cycles = ratio(before.time_ns, after.time_ns), ratio(before.cycles, after.cycles)
    clock = ratio(before.clock_mhz, after.clock_mhz)
    if time is None or cycles is None or not differs(clock, CLOCK_PERCENT) or not differs(time, _least_percent(before, after)):
        return None
    return clock if abs(math.log(cycles)) <= abs(math.log(time)) / 3 else None


def _stands_out(before: KernelEvidence, after: KernelEvidence) -> bool:
    squares = [
        each.deviation_ns**2 / each.calls for each in (before, after) if each.deviation_ns is not None and each.calls > 1
    ]
    difference = abs((after.time_ns or 0.0) - (before.time_ns or 0.0))
    return difference > DEVIATIONS * math.sqrt(math.fsum(squares))
