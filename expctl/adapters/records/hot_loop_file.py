"""Hot loops on disk: experiments/hot_loops.json, which is committed, and one file for each code that was counted here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from expctl.adapters.codec.decode import encode
from expctl.adapters.codec.record_codec import indented, typed_json
from expctl.domain.errors import Refused
from expctl.domain.experiment.hot_loop import HotLoop, HotLoops
from expctl.files import checked_json


def hot_loops_bytes(found: Sequence[HotLoop]) -> bytes:
    """Return the bytes of experiments/hot_loops.json."""
    return indented(encode(HotLoops(targets=tuple(found))))


def hot_loops_of(text: bytes, *, where: str) -> tuple[HotLoop, ...]:
    """Parse experiments/hot_loops.json. Raises Refused with every problem; `where` names the file."""
    found: HotLoops = typed_json(text, HotLoops, where=where)
    return found.targets


class HotLoopStore:
    """Keeps counted loops in a folder, by their code and the version `compiler`. It may be deleted at any time."""

    def __init__(self, folder: Path, *, compiler: str) -> None:
        self._folder, self._compiler = folder, compiler

    def read(self, code: str) -> HotLoop | None:
        """Return what was counted for this code; None if nothing was, or if it can't be read any more."""
        file = self._file(code)
        try:
            found: HotLoop = typed_json(checked_json.sound_text(file), HotLoop, where=str(file))
        except (OSError, Refused, checked_json.Damaged):
            return None
        return found if found.code == code else None

    def write(self, counted: HotLoop) -> None:
        """Keep what was counted."""
        checked_json.write(self._file(counted.code), encode(counted))

    def _file(self, code: str) -> Path:
        return self._folder / f"{code[:32]}-{self._compiler or 'none'}.json"
