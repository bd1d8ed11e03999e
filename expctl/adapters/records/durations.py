"""Remember how long steps took in this repository, to foretell how long a run will still take. May be deleted at any time."""

from pathlib import Path

from expctl.files import checked_json


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
        checked_json.write(self._file, kept)

    def _all(self) -> dict[str, object]:
        try:
            found = checked_json.read(self._file)
        except (OSError, checked_json.Damaged):
            return {}
        return found if isinstance(found, dict) else {}
