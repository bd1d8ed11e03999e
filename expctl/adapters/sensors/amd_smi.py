"""Read AMD GPUs with the tool amd-smi where sysfs doesn't say how busy they are; only between launches, as it takes 1 s."""

import json
import time
from collections.abc import Mapping
from typing import Any

from expctl.adapters.sensors.amd_sysfs import AmdSysfs
from expctl.adapters.sensors.gpu_reading import GpuReading, GpuSource, visible
from expctl.adapters.sensors.vendor_tool import VendorTool

WORDS = ("metric", "--usage", "--temperature", "--clock", "--power", "--json")
KEPT_S = 2.0


class AmdSmi(GpuSource):
    """Reads AMD GPUs with amd-smi, unless `sysfs` can read them: those whose index `names` lists, or all. A reading is reused
    for 2 s, because the tool is slow.
    """

    def __init__(self, tool: VendorTool, sysfs: AmdSysfs, *, names: str = "") -> None:
        self._tool, self._sysfs, self._names = tool, sysfs, names
        self._kept: tuple[float, tuple[GpuReading, ...] | None] | None = None

    def why_absent(self) -> str:
        """Return why amd-smi isn't used: not installed, not needed, or it doesn't answer; empty if it is used."""
        if not self._sysfs.why_absent():
            return "not needed: sysfs says how busy the GPU is"
        if not self._tool.path():
            return "no amd-smi on PATH"
        return "amd-smi gives no answer" if self.read() is None else ""

    def read(self) -> tuple[GpuReading, ...] | None:
        """Return a reading of every card, at most 2 s old; None if amd-smi doesn't answer."""
        if self._kept is None or time.monotonic() - self._kept[0] > KEPT_S:
            answer = self._tool.ask(*WORDS)
            self._kept = (time.monotonic(), None if answer is None else self._visible(answer))
        return self._kept[1]

    def _visible(self, answer: str) -> tuple[GpuReading, ...] | None:
        found = readings(answer)
        return found and tuple(each for number, each in enumerate(found) if visible(self._names, number))


def readings(answer: str) -> tuple[GpuReading, ...] | None:
    """Parse the output of `amd-smi metric --json`, a list of cards or an object with `gpu_data`; None if it is neither."""
    try:
        found = json.loads(answer)
    except ValueError:
        return None
    cards = found.get("gpu_data") if isinstance(found, dict) else found
    if not isinstance(cards, list) or not all(isinstance(card, dict) for card in cards):
        return None
    return tuple(_reading(number, card) for number, card in enumerate(cards))


def _reading(number: int, card: Mapping[str, Any]) -> GpuReading:
    hot = _value(card, "temperature", "hotspot")
    return GpuReading(
        name=f"amd {card.get('gpu', number)}",
        busy_percent=_value(card, "usage", "gfx_activity"),
        temperature_c=_value(card, "temperature", "edge") if hot is None else hot,
        clock_mhz=_value(card, "clock", "gfx_0", "clk"),
        power_w=_value(card, "power", "socket_power"),
    )


def _value(node: Any, *path: str) -> float | None:
    # A number is bare or {"value": 5, "unit": "%"}; "N/A" stands for none.
    for key in (*path, "value"):
        if isinstance(node, Mapping):
            node = node.get(key)
    return float(node) if isinstance(node, int | float) and not isinstance(node, bool) else None
