"""Open text files that may be gzipped, which is recognised by their first bytes and not by their name."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO

from expctl.profiles.raw import refusals

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

GZIP = b"\x1f\x8b"
BYTES_MOST = 2 << 30
"""Most bytes of unpacked text that are read (2 GiB); more is a mistake or a decompression bomb."""


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open the file `path` as text, decompressed if it is gzip; bytes that aren't UTF-8 become U+FFFD. Raises Refused for a
    file that is unreadable, larger than 2 GiB, or damaged gzip data, also while the caller reads from it.
    """
    try:
        with open(path, "rb") as raw:
            packed = raw.read(2) == GZIP
            if not packed and path.stat().st_size > BYTES_MOST:
                raise refusals.damaged(path, f"more than {BYTES_MOST >> 30} GiB of text")
            raw.seek(0)
            source = io.BufferedReader(_Unpacked(raw, path)) if packed else raw
            yield io.TextIOWrapper(source, encoding="utf-8-sig", errors="replace", newline="")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise refusals.damaged(path, f"the gzip data are cut off or wrong: {error}") from error
    except OSError as error:
        raise refusals.unreadable(path, error) from error


def first_bytes(path: Path, size: int = 65536) -> bytes:
    """Return the first `size` bytes of a file, or fewer; of a gzip file, decompressed bytes. Raises Refused if the file is
    unreadable or its gzip data are wrong.
    """
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


def is_packed(path: Path) -> bool:
    """Return whether the file is gzipped. Raises Refused if it is unreadable."""
    try:
        with open(path, "rb") as raw:
            return raw.read(2) == GZIP
    except OSError as error:
        raise refusals.unreadable(path, error) from error


class _Unpacked(io.RawIOBase):
    def __init__(self, packed: IO[bytes], path: Path) -> None:
        self._source = gzip.GzipFile(fileobj=packed)
        self._path = path
        self._left = BYTES_MOST

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        data = self._source.read1(len(view))
        view[: len(data)] = data
        self._left -= len(data)
        if self._left < 0:
            raise refusals.damaged(self._path, f"more than {BYTES_MOST >> 30} GiB of text, unpacked")
        return len(data)
