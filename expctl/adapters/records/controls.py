"""Store the controls that were passed, one JSON file per machine, protocol and target, in the user's state folder.

They describe a machine on one day, not a repository: they are never committed, and all clones share them.
"""

from pathlib import Path

from expctl.adapters.codec.decode import encode
from expctl.adapters.codec.record_codec import typed_json
from expctl.domain.errors import Refused
from expctl.domain.experiment.control_result import ControlResult
from expctl.files import checked_json


class FileControls:
    """Passed controls below `folder`. If `folder` is None, none is found and none is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder / "expctl" / "controls" if folder is not None else None

    def read(self, identity: str) -> ControlResult | None:
        """Return the last control passed under `identity` (control_identity); None without one, or if its file is damaged."""
        if self._folder is None:
            return None
        path = self._path(self._folder, identity)
        try:
            return typed_json(checked_json.sound_text(path), ControlResult, where=str(path))
        except (OSError, Refused, checked_json.Damaged):
            return None

    def write(self, identity: str, passed: ControlResult) -> str:
        """Keep a passed control in place of an older one; return "", or why it couldn't be kept."""
        if self._folder is None:
            return "no home folder"
        try:
            checked_json.write(self._path(self._folder, identity), encode(passed))
        except OSError as error:
            return f"{self._folder}: {error.strerror}"
        return ""

    @staticmethod
    def _path(folder: Path, identity: str) -> Path:
        return folder / f"{identity}.json"
