"""experiments/compiled.json.xz: what rejected changes compile to, so that a fresh clone need not compile them to know a repeat.

Entries are found by sources and compiler, as those of CompiledVersions are. One that nobody asks for does no harm. Whoever can
send a commit can write the file: none of its names becomes that of a file, and it takes no more memory than an honest one may.
"""

import lzma
from collections.abc import Callable, Mapping
from functools import cached_property

import msgspec
from msgspec import Raw, Struct, field

from expctl.domain.rules.meaning import Compiled

FILE = "experiments/compiled.json.xz"
LARGEST = 32 << 20
"""Bytes of the contents: seven versions on five targets are 3 MB."""
UNPACKING_MOST = 128 << 20
"""Bytes that are taken to unpack it: as it is packed here, 65 MiB."""


class Brought(Struct, frozen=True, kw_only=True):
    """The contents of the file: the hash of each preprocessed source by that of the version, what was compiled by name, and
    what was read of each function.
    """

    sources: Mapping[str, str] = field(default_factory=dict)
    compiled: Mapping[str, Raw] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)


class AtHead:
    """What a commit brings, by what `read` returns of its file: read when it is first asked for."""

    def __init__(self, read: Callable[[], bytes | None]) -> None:
        self._read = read

    @cached_property
    def brought(self) -> Brought:
        """Return what the file holds."""
        return unpacked(self._read())


def packed(sources: Mapping[str, str], compiled: Mapping[str, bytes], functions: Mapping[str, bytes]) -> bytes:
    """Return the bytes of the file: the same for the same entries."""
    entries = {name: Raw(entry) for name, entry in compiled.items()}
    held = Brought(sources=sources, compiled=entries, functions={name: text.decode() for name, text in functions.items()})
    return lzma.compress(msgspec.json.encode(held, order="sorted"), preset=9)


def unpacked(data: bytes | None) -> Brought:
    """Return what the file holds; nothing where there is none, or it is damaged or too large: then all is compiled here."""
    try:
        return msgspec.json.decode(_contents(data), type=Brought) if data else Brought()
    except (lzma.LZMAError, EOFError, msgspec.MsgspecError, RecursionError, UnicodeError):
        return Brought()


def compiled_of(brought: Brought, name: str) -> Compiled | None:
    """Return what was compiled, by its name; None if the file doesn't hold it, or it is damaged."""
    try:
        return msgspec.json.decode(brought.compiled[name], type=Compiled)
    except (KeyError, msgspec.MsgspecError, RecursionError, UnicodeError):
        return None


def _contents(data: bytes) -> bytes:
    unpacking = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=UNPACKING_MOST)
    contents = unpacking.decompress(data, LARGEST)
    if not unpacking.eof:
        raise EOFError(f"{FILE} is cut off, or holds more than {LARGEST} bytes")
    return contents
