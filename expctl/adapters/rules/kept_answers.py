"""Keep what compilers told of a patch, for as long as nothing that they were asked with has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from expctl.domain.rules.told import Told
from expctl.files.cache_folder import CacheFolder

FORMAT = 6
"""Of what is kept, and of how rules compare: what was told by another one is asked again."""


class KeptAnswers:
    """Keeps answers below `folder`, which may be deleted at any time."""

    def __init__(self, folder: Path) -> None:
        self._kept = CacheFolder(folder)

    def told(self, question: object, ask: Callable[[], tuple[Told, ...]]) -> tuple[Told, ...]:
        """Return the answer to `question`, which holds all that it depends on; `ask` for it if none is kept."""
        name = _name(question)
        if (kept := self._kept.get(name)) is not None:
            return msgspec.json.decode(kept, type=tuple[Told, ...])
        found = ask()
        with suppress(OSError):  # no space, no right: the next one is asked again
            self._kept.put(name, msgspec.json.encode(found))
        return found

    def is_no(self, question: object) -> bool:
        """Was the answer to a question of yes and no a no, and kept by `keep_no`?"""
        return self._kept.get(_name(question)) is not None

    def keep_no(self, question: object) -> None:
        """Keep that the answer to `question`, which holds all that it depends on, is no."""
        with suppress(OSError):
            self._kept.put(_name(question), b"no")


def _name(question: object) -> str:
    return hashlib.sha256(msgspec.json.encode((FORMAT, question), order="sorted")).hexdigest()[:40]
