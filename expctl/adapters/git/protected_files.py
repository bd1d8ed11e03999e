"""Keep checksums of protected files (those that judge a candidate), so that an edit of one is noticed before each launch."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path


class ProtectedFiles:
    """The SHA-256 of every file that a candidate must not change, for each folder in which a commit is checked out. They are
    kept in memory, where no child process can change them.
    """

    def __init__(self) -> None:
        self._recorded: dict[Path, tuple[tuple[str, ...], Mapping[str, str]]] = {}

    def protect(self, folder: Path, paths: Sequence[str]) -> None:
        """Compute the checksums of the files of `folder` at or below `paths`; `changed` compares the files with them later."""
        self._recorded[folder] = (tuple(paths), _contents(folder, paths))

    def changed(self, folder: Path) -> tuple[str, ...]:
        """Return the files of `folder` that were changed, removed or added since `protect`; none if that wasn't called."""
        paths, before = self._recorded.get(folder, ((), {}))
        now = _contents(folder, paths)
        return tuple(name for name in sorted({*before, *now}) if before.get(name) != now.get(name))

    def release(self, folder: Path) -> None:
        """Forget the checksums of `folder`."""
        self._recorded.pop(folder, None)


def _contents(folder: Path, paths: Sequence[str]) -> dict[str, str]:
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
