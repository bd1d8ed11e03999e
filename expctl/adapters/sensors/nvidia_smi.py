"""Read NVIDIA GPUs with nvidia-smi: it is called for each reading between measurements, and keeps running during them."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from expctl.adapters.sensors.gpu_reading import GpuReading, visible
from expctl.adapters.sensors.vendor_tool import Stream, VendorTool

FIELDS = "index,uuid,utilization.gpu,temperature.gpu,clocks.sm,clocks_event_reasons.active"
OLD_FIELDS = FIELDS.replace("clocks_event_reasons", "clocks_throttle_reasons")  # drivers before 535
EVERY_MS = 200
STALE_S = 5.0
# Bits of nvmlClocksEventReason* in nvml.h. The power cap is left out, because a loaded card runs at it.
REASONS = {0x8: "hardware slowdown", 0x20: "heat (software)", 0x40: "heat (hardware)", 0x80: "power brake"}


class NvidiaSmi:
    """Reads NVIDIA GPUs with nvidia-smi. `names` is used instead of the environment variable CUDA_VISIBLE_DEVICES."""

    def __init__(self, tool: VendorTool, *, names: str | None = None) -> None:
        self._tool, self._fields = tool, FIELDS
        self._stream: Stream | None = None
        self._names = os.environ.get("CUDA_VISIBLE_DEVICES", "") if names is None else names
        self._kept: tuple[float, tuple[GpuReading, ...] | None] | None = None

    def why_absent(self) -> str:
        """Return in words that nvidia-smi is not installed or doesn't answer; empty if it answers."""
        if not self._tool.path():
            return "no nvidia-smi on PATH"
        return "nvidia-smi gives no answer" if self.read() is None else ""

    @contextmanager
    def session(self) -> Iterator[None]:
        """Keep one nvidia-smi running for `read` during the block. Does nothing if the tool doesn't answer."""
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
        """Return a reading of every visible card; None if nvidia-smi doesn't answer, or wrote nothing for 5 s."""
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
    return float(word) if word.replace(".", "", 1).isdigit() else None
