"""Keep a GPU at work with a benchmark until its clock and temperature are steady."""

import time
from collections.abc import Callable, Sequence

from expctl.adapters.steps.worker import Worker
from expctl.domain.machine.burn_in import BurnIn, DeviceReading
from expctl.domain.machine.steady_state import state_of
from expctl.domain.protocol.model import Benchmark, BurnInRule
from expctl.ports.measuring import Progress

SHOWN_EVERY_S = 1.0


def until_steady(
    worker: Worker,
    benchmark: Benchmark,
    readings: Callable[[], Sequence[DeviceReading]],
    progress: Progress,
    clock_s: Callable[[], float] = time.monotonic,
) -> BurnIn:
    """Let `worker` time all sizes again and again until `readings` are steady by `benchmark.burn_in`; return the last state.

    It ends also after `most_s`, and when a whole window passes without a reading. Raises StepFailed if the worker fails.
    """
    rule = benchmark.burn_in or BurnInRule()
    since_s = shown_s = clock_s()
    while True:
        for size in benchmark.sizes:
            worker.times(size.name, benchmark.iterations)
        now_s = clock_s()
        state = state_of(
            readings(),
            since_s=since_s,
            now_s=now_s,
            window_s=rule.window_s,
            clock_percent=rule.clock_percent,
            temperature_c=rule.temperature_c,
        )
        unread = bool(state.trouble) and now_s - since_s >= rule.window_s
        if state.steady or unread or now_s - since_s >= rule.most_s:
            return state
        if now_s - shown_s >= SHOWN_EVERY_S and not state.trouble:
            shown_s = now_s
            progress.working("burn-in", f"{state.clock_mhz:,.0f} MHz, {state.temperature_c:.0f} C, {state.seconds:.0f} s")
