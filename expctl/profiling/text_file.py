"""Opens text that may be gzipped, by its first bytes and not by its name."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO

from expctl.profiling import refusals

GZIP = b"\x1f\x8b"
BYTES_MOST = 2 << 30
"""Of text, unpacked. More is a mistake, or an archive made to burst."""


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """The text of `path`. Bytes that are no UTF-8 become U+FFFD. Raises Refused, also while it is being read."""
    try:
        with open(path, "rb") as raw:
            packed = raw.read(2) == GZIP
            if not packed and path.stat().st_size > BYTES_MOST:
                raise refusals.damaged(path, f"more than {BYTES_MOST >> 30} GiB of text")
            raw.seek(0)
            source: io.BufferedIOBase = _Unpacked(raw, path) if packed else raw
            yield io.TextIOWrapper(source, encoding="utf-8-sig", errors="replace", newline="")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise refusals.damaged(path, f"the gzip data are cut off or wrong: {error}") from error
    except OSError as error:
        raise refusals.unreadable(path, error) from error


def head(path: Path, size: int = 65536) -> bytes:
    """The first bytes, unpacked; fewer where the packed data end early. Raises Refused."""
    try:
        with open(path, "rb") as raw:
            start = raw.read(size)
    except OSError as error:
        raise refusals.unreadable(path, error) from error
    if not start.startswith(GZIP):
        return start
    try:
        return zlib.decompressobj(wbits=31).decompress(start, size)
    except zlib.error as error:
        raise refusals.damaged(path, f"the gzip data are wrong: {error}") from error


class _Unpacked(io.BufferedIOBase):
    """Unpacked bytes, until there are too many."""

    def __init__(self, packed: IO[bytes], path: Path) -> None:
        self._source = gzip.GzipFile(fileobj=packed)
        self._path = path
        self._left = BYTES_MOST

    def readable(self) -> bool:
        """Always."""
        return True

    def read1(self, size: int = -1) -> bytes:
        """At most `size` bytes. Raises Refused past the limit."""
        data = self._source.read1(size)
        self._left -= len(data)
        if self._left < 0:
            raise refusals.damaged(self._path, f"more than {BYTES_MOST >> 30} GiB of text, unpacked")
        return data

    def read(self, size: int | None = -1) -> bytes:
        """All that is left, or at most `size` bytes."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read1(1 << 20), b""))
        return self.read1(size)
