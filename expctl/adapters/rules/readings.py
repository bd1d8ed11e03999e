"""What the reader of compilers' texts makes of them, in a process of its own; what was read of functions is kept."""

from __future__ import annotations

import hashlib
import importlib.util
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from expctl.files.cache_folder import CacheFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from expctl.adapters.rules.workplaces import Workplaces
    from expctl.domain.rules.meaning import View

READER = "expctl.inspection.readers.compiled_functions"


class Readings:
    """Reads in `workplaces`, and keeps what it read of functions in a folder below `state`; `brought` returns what a commit has
    of that, which is never put there.
    """

    def __init__(self, state: Path, workplaces: Workplaces, brought: Callable[[], Mapping[str, str]]) -> None:
        self._workplaces = workplaces
        self._brought = brought
        self._folder = state / "read"
        self._folder.mkdir(parents=True, exist_ok=True)
        self.kept = CacheFolder(self._folder, prefix=f"{code()}.")

    def read(self, view: View, listing: Path, tree: Path, out: Path, *, timeout_s: float) -> bytes:
        """Return what is read of a file, or of each file of a folder, as JSON. Raises ValueError."""
        answer, brought = out / "answer", out / "brought"
        brought.write_bytes(msgspec.json.encode(self._brought()))
        words = ("{python}", "-P", "-m", READER, view, *map(str, (listing, answer, self._folder)), code(), str(brought))
        said = self._workplaces.fails(words, tree, out, self._folder, timeout_s=timeout_s)
        if said:
            raise ValueError(f"{READER} can't read what a compiler wrote: {said[-400:]}")
        return answer.read_bytes()


@cache
def code() -> str:
    """Return a hash of what makes and reads a compiler's text: what was read by other code is compiled anew."""
    found = importlib.util.find_spec(READER)
    folder = Path(found.origin).parents[1] if found is not None and found.origin is not None else Path()
    return hashed(*(file.read_text() for file in sorted((*folder.glob("readers/*.py"), *folder.glob("cuda_stubs/*.h")))))


def hashed(*parts: object) -> str:
    """Return a hash of what JSON can hold, as the name of what is kept."""
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:40]
