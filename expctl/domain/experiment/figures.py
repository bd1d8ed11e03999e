"""Formats times, throughputs and effects as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.domain.experiment.machine_times import MachineState, TimesOfSize
    from expctl.domain.experiment.record import Estimate, Times

DIGITS = 8  # decimals of a percent in a record
PLACES = {2: ("faster", "slower"), 3: ("fastest", "middle", "slowest")}
TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"))


def time_text(ns: float) -> str:
    """Return a time with four significant figures in a fitting unit (ns, us, ms or s), e.g. `39.12 ms`."""
    for scale, unit in TIME_UNITS:
        if ns >= scale:
            return f"{_four_digits(ns / scale)} {unit}"
    return f"{_four_digits(ns)} ns"


def throughput_text(flop: int, ns: float) -> str:
    """Return `flop` operations in `ns` nanoseconds as text, e.g. `46.83 GFLOP/s`; empty if either is 0, which means unknown."""
    if flop <= 0 or ns <= 0:
        return ""
    gflops = flop / ns
    return f"{_four_digits(gflops / 1000)} TFLOP/s" if gflops >= 1000 else f"{_four_digits(gflops)} GFLOP/s"


def speed_text(flop: int, ns: float, low_ns: float = 0.0, high_ns: float = 0.0) -> str:
    """Return a throughput, or a time if `flop` is 0, with the interval of the time if it is known.

    E.g. `82.34 GFLOP/s [81.90, 82.80]`.
    """
    if not flop:
        return bounded_time_text(ns, low_ns, high_ns)
    return throughput_text(flop, ns) + _ends(throughput_text(flop, high_ns), throughput_text(flop, low_ns))


def bounded_time_text(ns: float, low_ns: float, high_ns: float) -> str:
    """Return a time with its interval if it is known (not 0), e.g. `3.260 ms [3.242, 3.278]`."""
    return time_text(ns) + (_ends(time_text(low_ns), time_text(high_ns)) if low_ns else "")


def state_text(state: int, states: int) -> str:
    """Return which of several states of the machine a figure belongs to, e.g. ` in the slower of 2 states`; "" for one."""
    return f" in the {PLACES[states][state]} of {states} states" if states in PLACES else ""


def states_text(times: TimesOfSize) -> str:
    """Return the states of the machine at one size, each with its time and effect; "" if there is just one.

    E.g. `two states of the machine at n=512: 2.050 ms in 14 rounds (effect +1.20 % [+0.80, +1.60]), 2.750 ms in 9 (...)`.
    """
    if len(times.states) < 2:
        return ""
    first, *others = times.states
    told = [_one_state(first, "rounds"), *(_one_state(each, "") for each in others)]
    mixed = f"; {times.mixed_rounds} rounds mixed" if times.mixed_rounds else ""
    count = {2: "two", 3: "three"}.get(len(times.states), str(len(times.states)))
    return f"{count} states of the machine at {times.size}: {', '.join(told)}{mixed}"


def _one_state(state: MachineState, unit: str) -> str:
    interval = f" [{state.low_percent:+.2f}, {state.high_percent:+.2f}]" if state.low_percent is not None else ""
    effect = "no effect" if state.effect_percent is None else f"effect {state.effect_percent:+.2f} %{interval}"
    return f"{time_text(state.baseline.ns)} in {state.rounds}{f' {unit}' if unit else ''} ({effect})"


def _ends(low: str, high: str) -> str:
    """Return two texts with units as an interval; their units are left out where they are equal. "" for empty ones."""
    if not low or not high:
        return ""
    (low_number, low_unit), (_, high_unit) = low.split(" "), high.split(" ")
    return f" [{low_number if low_unit == high_unit else low}, {high if low_unit != high_unit else high.split(' ')[0]}]"


def times_text(times: Times) -> str:
    """Return the distribution of iteration times as text, e.g. `mean 39.20 ms, p90 1.012, p99 1.304`. The quantiles are ratios
    to the median.
    """
    return f"mean {time_text(times.mean_ns)}, p90 {times.p90:.3f}, p99 {times.p99:.3f}"


def effect_text(estimate: Estimate) -> str:
    """Return an effect with its 95 % interval as text, e.g. `+2.31 % [+1.70, +2.92], 10 rounds`."""
    interval = interval_text(estimate.effect_percent, estimate.low_percent, estimate.high_percent)
    return f"{interval}, {estimate.rounds} rounds"


def interval_text(effect: float, low: float, high: float) -> str:
    """Return an effect with its interval, in percent, e.g. `+2.31 % [+1.70, +2.92]`.

    An end below 1 % isn't rounded to a tenth of a percent, where zero and the limits of a verdict lie, unless it is one.
    """
    digits = next((digits for digits in range(2, DIGITS) if all(_is_told(end, digits) for end in (low, high))), DIGITS)
    return f"{effect:+.{digits}f} % [{low:+.{digits}f}, {high:+.{digits}f}]"


def _is_told(end: float, digits: int) -> bool:
    rounded = round(end, digits)
    return abs(end) > 1 or abs(rounded - end) < 10**-DIGITS or round(rounded, 1) != rounded


def _four_digits(value: float) -> str:
    decimals = 3 if value < 10 else 2 if value < 100 else 1 if value < 1000 else 0
    return f"{value:.{decimals}f}"
