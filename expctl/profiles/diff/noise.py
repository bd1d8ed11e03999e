"""What two profiles of the same program differ by, and so what a difference has to exceed before anything is said of it.

From ten captures of one kernel and two of another (benchmarks/profiles/captures): the farthest two lie 0.78 % apart in time
and 0.25 % in cycles; clocks lie 0.75 % apart, counts of instructions and sectors not at all, bank conflicts 0.6 %.
The limits are about twice that.
"""

import math

from expctl.profiles.diff.kernel_evidence import KernelEvidence

TIME_PERCENT = 1.5
CYCLES_PERCENT = 0.5
CLOCK_PERCENT = 1.5
COUNT_PERCENT = 2.0
ONE_CALL_PERCENT = 10.0
"""Of a single call in a trace: nothing shows how far calls lie apart, and clocks alone move them by several percent."""
DEVIATIONS = 3.0
"""A difference of means is also held against the spread of the calls: kernels launched in many ways spread widely."""


def ratio(before: float | None, after: float | None) -> float | None:
    """after / before; None where either is unknown or not positive."""
    return after / before if before is not None and after is not None and before > 0 and after > 0 else None


def is_about(value: float | None, percent: float) -> bool:
    """Is a ratio within so many percent of one? An unknown one isn't."""
    return value is not None and abs(math.log(value)) <= math.log1p(percent / 100)


def differs(value: float | None, percent: float) -> bool:
    """Is a ratio farther from one? An unknown one isn't."""
    return value is not None and not is_about(value, percent)


def slowdown(before: KernelEvidence, after: KernelEvidence) -> float | None:
    """How many times as long a call takes, in cycles where these are known; None within the noise.

    Raises nothing: a profile without times has no slowdown.
    """
    time, cycles = ratio(before.time_ns, after.time_ns), ratio(before.cycles, after.cycles)
    if time is None:
        return None
    if cycles is not None and differs(cycles, CYCLES_PERCENT) and differs(time, CYCLES_PERCENT) and (cycles > 1) == (time > 1):
        return cycles if _stands_out(before, after) else None
    least = ONE_CALL_PERCENT if min(before.calls, after.calls) == 1 else TIME_PERCENT
    return time if cycles is None and differs(time, least) and _stands_out(before, after) else None


def clock_change(before: KernelEvidence, after: KernelEvidence) -> float | None:
    """How many times as high the clock is, if time changed and the cycles explain at most a third of it."""
    time, cycles = ratio(before.time_ns, after.time_ns), ratio(before.cycles, after.cycles)
    clock = ratio(before.clock_mhz, after.clock_mhz)
    if time is None or cycles is None or not differs(clock, CLOCK_PERCENT) or not differs(time, TIME_PERCENT):
        return None
    return clock if abs(math.log(cycles)) <= abs(math.log(time)) / 3 else None


def _stands_out(before: KernelEvidence, after: KernelEvidence) -> bool:
    squares = [
        each.deviation_ns**2 / each.calls for each in (before, after) if each.deviation_ns is not None and each.calls > 1
    ]
    difference = abs((after.time_ns or 0.0) - (before.time_ns or 0.0))
    return difference > DEVIATIONS * math.sqrt(math.fsum(squares))
