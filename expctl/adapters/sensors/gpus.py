"""Sensor of GPUs that are busy, hot or throttled, or whose clock rate is lower than in earlier launches."""

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack

from expctl.adapters.sensors.clock_history import ClockHistory
from expctl.adapters.sensors.gpu_reading import GpuReading, GpuSource
from expctl.adapters.sensors.interface import Launch, Sensor, uses_gpu
from expctl.domain.machine.burn_in import DeviceReading
from expctl.domain.machine.interference import BELOW_ITS_CLOCK, IS_HOT, THROTTLED_BY, Foreign
from expctl.domain.protocol.model import Gate, Target

EVERY_S = 0.25
AT_WORK_PERCENT = 50.0  # clocks are ignored below this load: an idle card slows down by itself
HEAT_MARGIN_C = 3.0


class Gpus(Sensor):
    """Judges every GPU that `source` reads: its load before a launch (during it the load is ours), its heat and clock always.
    If `looks` is False the source is not read during launches, because reading it takes too long; `is_slow` says that it is a
    tool.
    """

    every_s = EVERY_S

    def __init__(self, name: str, source: GpuSource, rule: Gate, *, looks: bool = True, is_slow: bool = False) -> None:
        self.is_slow = is_slow
        self.name, self._source, self._rule, self._looks = name, source, rule, looks
        self._clocks: dict[str, list[float]] = {}
        self._readings: list[DeviceReading] = []
        self._histories: dict[str, ClockHistory] = {}
        self._counts: dict[str, dict[str, int]] = {}
        self._launch = Launch(side="")
        self._said, self._is_here = "", False

    def why_absent(self) -> str:
        """Return why the source can't read any card; empty if it can."""
        return self._source.why_absent()

    def says(self) -> str:
        """Return the last reading of each card in words, e.g. `nvidia 0: busy 3 %, 41 degrees, 345 MHz`."""
        return self._said

    def why_unused(self, target: Target | None) -> str:
        """Return in words that `target` isn't timed on a GPU; empty if it is, so that the sensor is used."""
        return "" if uses_gpu(target) else "no GPU is timed"

    def session(self) -> AbstractContextManager[object]:
        """Return a context that keeps the source's tool running; forget the clock rates of launches before it."""
        stack = ExitStack()
        stack.enter_context(self._source.session())
        self._is_here = self._looks and not self._source.why_absent()
        self._histories.clear()
        return stack

    def blocking(self) -> tuple[Foreign, ...]:
        """Return the cards that are busy, hot or throttled now. Called while no process of ours uses a GPU."""
        readings = self._source.read() or ()
        self._said = "; ".join(_words(each) for each in readings)
        return tuple(found for each in readings for found in (*self._busy(each), *self._unhealthy(each)))

    def start(self, launch: Launch) -> None:
        """Read the throttling counters at the start of a benchmark process, and forget the last process' clock rates."""
        self._launch = launch
        self._clocks.clear()
        self._readings = []
        readings = self._source.read() if self._is_here else ()
        self._counts = {each.name: dict(each.throttle_counts) for each in readings or ()}

    def look(self, fresh: Sequence[int]) -> tuple[Foreign, ...]:  # noqa: ARG002  the port's signature
        """Return the cards that are hot or throttled now; remember the clock rates of the loaded cards for `stop`."""
        if not self._is_here:
            return ()
        readings = self._source.read()
        if readings is None:
            return (Foreign(sensor=self.name, what=f"{self.name} stopped answering"),)
        found: list[Foreign] = []
        self._readings += _device_readings(readings, time.monotonic())
        for each in readings:
            if each.clock_mhz is not None and (each.busy_percent or 0) >= AT_WORK_PERCENT:
                self._clocks.setdefault(each.name, []).append(each.clock_mhz)
            grown = [reason for reason, count in each.throttle_counts.items() if count > self._before(each, reason, count)]
            found += self._unhealthy(each)
            found += (self._sighting(each, f"{THROTTLED_BY} {reason}") for reason in grown)
        return tuple(found)

    def stop(self) -> tuple[Foreign, ...]:
        """Return the cards whose clock rate in this launch was lower than in earlier launches of the same side."""
        found = []
        for card, clocks in self._clocks.items():
            history = self._histories.setdefault(card, ClockHistory(self._rule.slow_clock_percent))
            slow = history.judge(self._launch.side, clocks) if self._launch.timed else ""
            if slow:
                found.append(Foreign(sensor=self.name, what=f"{card} {BELOW_ITS_CLOCK}", detail=slow))
        return tuple(found)

    def readings(self) -> tuple[DeviceReading, ...]:
        """Return clock and temperature of every card that tells both, from each `look` since `start`."""
        return tuple(self._readings)

    def _before(self, card: GpuReading, reason: str, now: int) -> int:
        return self._counts.setdefault(card.name, {}).setdefault(reason, now)

    def _busy(self, card: GpuReading) -> Iterator[Foreign]:
        limit = self._rule.gpu_busy_percent
        if limit and card.busy_percent is not None and card.busy_percent >= limit:
            yield self._sighting(card, "is busy", f"{card.busy_percent:.0f} %, the limit is {limit:g}")

    def _unhealthy(self, card: GpuReading) -> Iterator[Foreign]:
        limits = [self._rule.hot_c or None, None if card.critical_c is None else card.critical_c - HEAT_MARGIN_C]
        limit = min((each for each in limits if each is not None), default=None)
        if limit is not None and card.temperature_c is not None and card.temperature_c >= limit:
            yield self._sighting(card, IS_HOT, f"{card.temperature_c:.0f} degrees, the limit is {limit:g}")
        for reason in card.throttles:
            yield self._sighting(card, f"{THROTTLED_BY} {reason}")

    def _sighting(self, card: GpuReading, what: str, detail: str = "") -> Foreign:
        return Foreign(sensor=self.name, what=f"{card.name} {what}", detail=detail)


def _device_readings(cards: Sequence[GpuReading], now_s: float) -> list[DeviceReading]:
    return [
        DeviceReading(
            device=card.name,
            at_s=now_s,
            clock_mhz=card.clock_mhz,
            temperature_c=card.temperature_c,
            busy_percent=card.busy_percent or 0.0,
        )
        for card in cards
        if card.clock_mhz is not None and card.temperature_c is not None
    ]


def _words(card: GpuReading) -> str:
    figures = (
        ("busy", card.busy_percent, "%"),
        ("", card.temperature_c, "degrees"),
        ("", card.clock_mhz, "MHz"),
    )
    known = [f"{name} {value:.0f} {unit}".strip() for name, value, unit in figures if value is not None]
    if card.power_w is not None:
        known.append(f"{card.power_w:.0f} W" + (f" of {card.power_cap_w:.0f}" if card.power_cap_w else ""))
    return f"{card.name}: {', '.join(known) or 'says nothing'}"
