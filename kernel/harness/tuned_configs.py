"""The table of tuned configs: which config each shape is timed with. autotune_scaled_mm.py writes it; it lies beside the
harness, out of reach of a patch, so the choice is frozen while code is judged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from expctl.harness.report import Fault
from kernel.harness.shapes import Extents
from kernel.runtime.library import Config, format_config, parse_config

TABLE = Path(__file__).with_name("tuned_configs.json")


def tuned_config(target: str, extents: Extents, table: Path = TABLE) -> Config | None:
    """Return the config that was chosen for a product on `target`; None if it was not tuned. Raises Fault for a bad table."""
    entry = read(table).get(target, {}).get(extents.name)
    try:
        return None if entry is None else parse_config(entry["config"])
    except (KeyError, TypeError, ValueError) as error:
        raise Fault(
            f"{table.name}, {target}, {extents.name}: expected a config such as 1,8,2,2,8,2, found {entry!r}"
        ) from error


def read(table: Path = TABLE) -> dict[str, dict[str, Any]]:
    """Return the table: target -> name of a shape -> `config` and how it came about. Raises Fault for a bad file."""
    try:
        found = json.loads(table.read_text())
    except (OSError, ValueError) as error:
        raise Fault(f"{table.name}: expected the table that autotune_scaled_mm.py writes, found {error}") from error
    if not isinstance(found, dict) or not all(isinstance(each, dict) for each in found.values()):
        raise Fault(f"{table.name}: expected a table of shapes for each target, found {str(found)[:80]}")
    return found


def choose(medians_ms: Mapping[Config, float], tie_percent: float) -> Config:
    """Return the fastest config, or one before it that is at most `tie_percent` slower, so that noise alone moves no choice."""
    least = min(medians_ms.values())
    return next(config for config, ms in medians_ms.items() if ms <= least * (1 + tie_percent / 100))


def write(
    target: str, device: str, chosen: Mapping[Extents, Mapping[Config, float]], tie_percent: float, table: Path = TABLE
) -> None:
    """Enter what was chosen for each shape, with the medians (ms) of all configs; other shapes and targets stay."""
    found = read(table)
    for extents, medians_ms in chosen.items():
        found.setdefault(target, {})[extents.name] = {
            "config": format_config(choose(medians_ms, tie_percent)),
            "device": device,
            "median_ms": {format_config(config): round(ms, 6) for config, ms in medians_ms.items()},
        }
    table.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n")
