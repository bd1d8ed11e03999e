"""Formats times, throughputs and effects as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Estimate, Times

DIGITS = 8  # decimals of a percent in a record
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
