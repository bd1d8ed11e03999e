"""Keep what compilers told of a patch, for as long as nothing that they were asked with has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from expctl.domain.rules.told import Answer, Told
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

    def whole(self, question: object) -> Answer | None:
        """Return the answer that `keep_whole` kept; None if there is none."""
        kept = self._kept.get(_name(question))
        return msgspec.json.decode(kept, type=Answer) if kept is not None else None

    def keep_whole(self, question: object, answer: Answer) -> None:
        """Keep the answer to `question`, which holds all that it depends on."""
        from expctl.adapters.codec.decode import encode

        with suppress(OSError, UnicodeError):  # text of a file that is no text
            self._kept.put(_name(question), msgspec.json.encode(encode(answer)))


def _name(question: object) -> str:
    return hashlib.sha256(msgspec.json.encode((FORMAT, question), order="sorted")).hexdigest()[:40]
