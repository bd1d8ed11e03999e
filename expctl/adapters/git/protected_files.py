"""Seals on the files that judge: what they held when we laid them out, so that a change is seen before the next launch."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path


class ProtectedFiles:
    """Kept in memory, where no child can reach: git's own index of a check-out lies beside it on the disk."""

    def __init__(self) -> None:
        self._seals: dict[Path, tuple[tuple[str, ...], Mapping[str, str]]] = {}

    def seal(self, folder: Path, paths: Sequence[str]) -> None:
        """From now on, the files of `folder` that lie at or below `paths` are to stay as they are."""
        self._seals[folder] = (tuple(paths), _contents(folder, paths))

    def broken(self, folder: Path) -> tuple[str, ...]:
        """Files that were changed, removed or added since; none where nothing was sealed."""
        paths, before = self._seals.get(folder, ((), {}))
        now = _contents(folder, paths)
        return tuple(name for name in sorted({*before, *now}) if before.get(name) != now.get(name))

    def lift(self, folder: Path) -> None:
        """The folder is gone."""
        self._seals.pop(folder, None)


def _contents(folder: Path, paths: Sequence[str]) -> dict[str, str]:
    """Path -> hash, or destination of a link."""
    found: dict[str, str] = {}
    left = [folder / path for path in paths]
    while left:
        path = left.pop()
        name = str(path.relative_to(folder))
        try:
            if path.is_symlink():
                found[name] = f"-> {os.readlink(path)}"
            elif path.is_dir():
                left += path.iterdir()
            elif path.is_file():
                found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
            elif path.exists():
                found[name] = "no file"
        except OSError as error:
            found[name] = error.strerror or "unreadable"
    return found
