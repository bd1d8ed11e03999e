"""What judges stays what it was: the harness of a check-out, read again before every launch."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

IMPORTED = (".py", ".pyc", ".so")


class Seal:
    """Over the files below `paths`, and over what Python would import from the folders above them.

    Taken at the first launch, right after git made the check-out; a later check-out of the same commit has the same.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = tuple(path.rstrip("/") for path in paths)
        self._taken: dict[Path, dict[str, str]] = {}

    def broken(self, root: Path) -> str:
        """What is not as it was below `root`, as a sentence; empty when all is."""
        seen = dict(self._seen(root))
        taken = self._taken.setdefault(root, seen)
        changed = sorted(path for path in taken.keys() | seen.keys() if taken.get(path) != seen.get(path))
        if not changed:
            return ""
        what = "is new" if changed[0] not in taken else "is gone" if changed[0] not in seen else "has changed"
        more = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
        return f"{changed[0]} {what} since the first launch{more}: what judges is not what the baseline commit has"

    def _seen(self, root: Path) -> Iterator[tuple[str, str]]:
        above = {parent for path in self._paths for parent in (root / path).parents if parent.is_relative_to(root)}
        for folder in above:
            for entry in folder.iterdir():
                if entry.suffix in IMPORTED:
                    yield str(entry.relative_to(root)), _digest(entry)
                elif any((entry / f"__init__{suffix}").exists() for suffix in IMPORTED):
                    yield str(entry.relative_to(root)), "a package"
        for path in self._paths:
            start = root / path
            for file in start.rglob("*") if start.is_dir() else (start,):
                if file.is_symlink() or not file.is_dir():
                    yield str(file.relative_to(root)), _digest(file)


def _digest(file: Path) -> str:
    """Of its kind and contents; a link is where it leads."""
    if file.is_symlink():
        return f"-> {file.readlink()}"
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        return f"unreadable: {error.strerror}"
