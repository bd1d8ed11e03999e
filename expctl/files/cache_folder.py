"""A folder of files that can be made again: each begins with a hash of the rest, and the oldest go when there are too many."""

import contextlib
import hashlib
from pathlib import Path

MOST = 2000
ENDING = ".cache"
DIGITS = 64


class CacheFolder:
    """Keeps at most `most` entries by name in `folder`, which may be deleted at any time. Names begin with `prefix`: those of
    another one are there to be removed alone.
    """

    def __init__(self, folder: Path, most: int = MOST, *, prefix: str = "") -> None:
        self._folder, self._most, self._prefix = folder, most, prefix

    def get(self, name: str) -> bytes | None:
        """Return the entry `name`; None if there is none, or it is damaged."""
        return sound(self._folder / (self._prefix + name + ENDING))

    def entries(self) -> dict[str, bytes]:
        """Return name -> contents of all entries with the prefix, those that are damaged left out."""
        files = sorted(self._folder.glob(f"{self._prefix}*{ENDING}"))
        found = {file.name.removeprefix(self._prefix).removesuffix(ENDING): sound(file) for file in files}
        return {name: contents for name, contents in found.items() if contents is not None}

    def put(self, name: str, contents: bytes) -> None:
        """Keep an entry, atomically; the oldest fifth goes once there are more than `most`. Raises OSError."""
        from expctl.files import atomic_write  # what only reads has to be quick

        atomic_write.replace(
            self._folder / (self._prefix + name + ENDING), _hash_of(contents) + b"\n" + contents, durably=False
        )
        there = [*self._folder.iterdir()]
        if len(there) > self._most:
            with contextlib.suppress(FileNotFoundError):  # another process removes the same ones
                for old in sorted(there, key=lambda file: file.stat().st_mtime)[: len(there) - self._most * 4 // 5]:
                    old.unlink()


def sound(file: Path) -> bytes | None:
    """Return what was kept in `file`; None if it isn't there, or isn't what was written."""
    try:
        text = file.read_bytes() if file.is_file() else b""
    except OSError:
        return None
    digits, contents = text[:DIGITS], text[DIGITS + 1 :]
    return contents if digits == _hash_of(contents) and text[DIGITS : DIGITS + 1] == b"\n" else None


def _hash_of(contents: bytes) -> bytes:
    return hashlib.sha256(contents).hexdigest().encode()
