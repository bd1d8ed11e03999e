"""NVIDIA GPUs through nvidia-smi: asked once where nothing is measured, left running and read along while something is."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from expctl.adapters.sensors.gpu_reading import GpuReading, visible
from expctl.adapters.sensors.vendor_tool import AskedTool, Stream

FIELDS = "index,uuid,utilization.gpu,temperature.gpu,clocks.sm,clocks_event_reasons.active"
OLD_FIELDS = FIELDS.replace("clocks_event_reasons", "clocks_throttle_reasons")  # drivers before 535
EVERY_MS = 200
STALE_S = 5.0
# nvml.h: nvmlClocksEventReason*. A power cap is no reason: a loaded card runs at it.
REASONS = {0x8: "hardware slowdown", 0x20: "heat (software)", 0x40: "heat (hardware)", 0x80: "power brake"}


class NvidiaSmi:
    """Reads cards by nvidia-smi."""

    def __init__(self, tool: AskedTool, *, names: str | None = None) -> None:
        self._tool, self._stream, self._fields = tool, None, FIELDS
        self._names = os.environ.get("CUDA_VISIBLE_DEVICES", "") if names is None else names
        self._kept: tuple[float, tuple[GpuReading, ...] | None] | None = None

    _stream: Stream | None

    def absent(self) -> str:
        """There is no such tool, or it doesn't answer."""
        if not self._tool.path():
            return "no nvidia-smi on PATH"
        return "nvidia-smi gives no answer" if self.read() is None else ""

    @contextmanager
    def session(self) -> Iterator[None]:
        """Keep one running, if it answers at all."""
        if not self._tool.path() or self.read() is None:
            yield
            return
        with self._tool.streaming(*self._words(), "-lms", str(EVERY_MS)) as stream:
            self._stream = stream
            try:
                yield
            finally:
                self._stream = None

    def read(self) -> tuple[GpuReading, ...] | None:
        """Every card that may be used; None when nobody answers, or no longer."""
        if self._stream is not None and (lines := self._stream.last_lines()):
            return None if self._stream.age_s() > STALE_S else self._readings(lines)
        if self._kept is None or time.monotonic() - self._kept[0] > 1:
            answer = self._ask()
            self._kept = (time.monotonic(), None if answer is None else self._readings(answer.splitlines()))
        return self._kept[1]

    def _ask(self) -> str | None:
        answer = self._tool.ask(*self._words())
        if answer is None and self._fields == FIELDS:
            self._fields = OLD_FIELDS
            answer = self._tool.ask(*self._words())
        return answer

    def _words(self) -> tuple[str, ...]:
        return (f"--query-gpu={self._fields}", "--format=csv,noheader,nounits")

    def _readings(self, lines: list[str]) -> tuple[GpuReading, ...] | None:
        """The newest line of each card; None when there is none."""
        rows = [[word.strip() for word in line.split(",")] for line in lines]
        newest = {row[0]: row for row in rows if len(row) == len(FIELDS.split(",")) and row[0].isdigit()}
        seen = tuple(_reading(row) for row in newest.values() if visible(self._names, int(row[0]), row[1]))
        return seen if newest else None


def _reading(row: list[str]) -> GpuReading:
    active = int(row[5], 16) if row[5].startswith("0x") else 0
    return GpuReading(
        name=f"nvidia {row[0]}",
        busy_percent=_number(row[2]),
        temperature_c=_number(row[3]),
        clock_mhz=_number(row[4]),
        throttles=tuple(reason for bit, reason in REASONS.items() if active & bit),
    )


def _number(word: str) -> float | None:
    """None for `[N/A]`."""
    return float(word) if word.replace(".", "", 1).isdigit() else None
