"""Remember how long steps took in this repository, to foretell how long a run will still take. May be deleted at any time."""

import json
from pathlib import Path

from expctl.files import atomic_write


class FileDurations:
    """Seconds by target and step, in one JSON file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self, target: str, step: str) -> float:
        """Return how many seconds the step took the last time on `target`; 0 if that isn't known."""
        found = self._all().get(f"{target} {step}")
        return float(found) if isinstance(found, int | float) else 0.0

    def write(self, target: str, step: str, seconds: float) -> None:
        """Remember how many seconds the step took on `target`."""
        kept = self._all() | {f"{target} {step}": round(seconds, 3)}
        atomic_write.replace(self._file, json.dumps(kept).encode())

    def _all(self) -> dict[str, object]:
        try:
            found = json.loads(self._file.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
