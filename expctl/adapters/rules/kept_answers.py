"""Keep what compilers told of a patch, for as long as nothing that they were asked with has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from expctl.domain.rules.told import Told
from expctl.files import atomic_write

FORMAT = 1
"""Of what is kept, and of how rules compare: what was told by another one is asked again."""


class KeptAnswers:
    """Keeps answers below `folder`, which may be deleted at any time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def told(self, question: object, ask: Callable[[], tuple[Told, ...]]) -> tuple[Told, ...]:
        """Return the answer to `question`, which holds all that it depends on; `ask` for it if none is kept."""
        words = msgspec.json.encode((FORMAT, question), order="sorted")
        kept = self._folder / f"{hashlib.sha256(words).hexdigest()[:40]}.json"
        try:
            return msgspec.json.decode(kept.read_bytes(), type=tuple[Told, ...])
        except (OSError, msgspec.DecodeError):
            found = ask()
            atomic_write.replace(kept, msgspec.json.encode(found))
            return found
