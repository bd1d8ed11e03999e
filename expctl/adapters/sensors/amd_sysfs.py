"""Read AMD GPUs from sysfs: busy (%), temperature, clock, power and its limit, and reasons of throttling.

A suspended card is not read, because that would wake it.
"""

import os
import struct
from collections.abc import Iterable
from pathlib import Path

from expctl.adapters.sensors.gpu_reading import GpuReading, GpuSource, visible

VENDOR = "0x1002"
POWERS = ("power1_average", "power1_input")  # a card has one or both; an APU (gfx1151) no power1_cap
# (format, content) revision of gpu_metrics -> byte offset of indep_throttle_status (kgd_pp_interface.h), whose bits don't
# depend on the chip: 32 to 47 are temperatures and PROCHOT, those below power and current.
STATUS_AT = {(1, 3): 112, (2, 2): 120, (2, 3): 120, (2, 4): 120}
HOT_BITS = 0xFFFF << 32
# Revision 3.0 (APUs such as gfx1151) counts a residency for each reason instead: the byte offsets of the thermal ones.
RESIDENCY_AT = {(3, 0): {"prochot": 228, "core heat": 244, "gfx heat": 248, "soc heat": 252}}


class AmdSysfs(GpuSource):
    """Reads the AMD GPUs below `root` (/sys). `names` is used instead of the environment variable HIP_VISIBLE_DEVICES."""

    def __init__(self, root: Path = Path("/sys"), *, names: str | None = None) -> None:
        self._root = root
        self._names = os.environ.get("HIP_VISIBLE_DEVICES", "") if names is None else names
        self._found: list[Path] | None = None

    def why_absent(self) -> str:
        """Return why nothing can be read: no AMD card, or none that shows how busy it is; empty if there is one."""
        if not self._cards():
            return "no AMD GPU in sysfs"
        return (
            ""
            if any((card / "gpu_busy_percent").exists() for card in self._cards())
            else "the AMD GPU doesn't say how busy it is"
        )

    def read(self) -> tuple[GpuReading, ...]:
        """Return a reading of every card that is awake and that HIP_VISIBLE_DEVICES doesn't hide."""
        cards = [card for number, card in enumerate(self._cards()) if visible(self._names, number)]
        return tuple(_reading(card) for card in cards if _word(card / "power/runtime_status") != "suspended")

    def _cards(self) -> list[Path]:
        if self._found is None:
            found = sorted(self._root.glob("class/drm/card*/device/vendor"), key=lambda path: (len(str(path)), path))
            self._found = [path.parent for path in found if "-" not in path.parts[-3] and _word(path) == VENDOR]
        return self._found


def _reading(card: Path) -> GpuReading:
    sensors = next(iter(sorted(card.glob("hwmon/hwmon*"))), card)
    flags, counts = _throttling(card / "gpu_metrics")
    return GpuReading(
        name=f"amdgpu {card.parent.name}",
        busy_percent=_number(card / "gpu_busy_percent", 1),
        temperature_c=_number(sensors / "temp1_input", 1000),
        critical_c=_number(sensors / "temp1_crit", 1000),
        clock_mhz=_number(sensors / "freq1_input", 1_000_000),
        power_w=_first(_number(sensors / name, 1_000_000) for name in POWERS),
        power_cap_w=_number(sensors / "power1_cap", 1_000_000),
        throttles=flags,
        throttle_counts=counts,
    )


def _first(figures: Iterable[float | None]) -> float | None:
    return next((figure for figure in figures if figure is not None), None)


def _throttling(file: Path) -> tuple[tuple[str, ...], dict[str, int]]:
    """Read a gpu_metrics file: return (reasons for which the card is throttled now, reason -> a counter that grows meanwhile).
    Both are empty for an unknown revision of the format.
    """
    try:
        table = file.read_bytes()
    except OSError:
        return (), {}
    if len(table) < 4:
        return (), {}
    revision = (table[2], table[3])
    status_at = STATUS_AT.get(revision, len(table))
    flags = struct.unpack_from("<Q", table, status_at)[0] if len(table) >= status_at + 8 else 0
    hot = flags & HOT_BITS and flags != (1 << 64) - 1  # all ones: not supported
    counted = {name: at for name, at in RESIDENCY_AT.get(revision, {}).items() if len(table) >= at + 4}
    counts = {name: struct.unpack_from("<I", table, at)[0] for name, at in counted.items()}
    return (("heat",) if hot else ()), {name: count for name, count in counts.items() if count != (1 << 32) - 1}


def _number(file: Path, unit: int) -> float | None:
    word = _word(file)
    return int(word) / unit if word.lstrip("-").isdigit() else None


def _word(file: Path) -> str:
    try:
        return file.read_text(errors="replace").strip()
    except OSError:
        return ""
