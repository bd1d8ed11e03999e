"""experiments/compiled.json.xz: what rejected changes compile to, so that a fresh clone need not compile them to know a repeat.

Entries are found by sources and compiler, as those of CompiledVersions are. One that nobody asks for does no harm.
"""

import lzma
from collections.abc import Mapping

import msgspec
from msgspec import Raw, Struct, field

FILE = "experiments/compiled.json.xz"


class Brought(Struct, frozen=True, kw_only=True):
    """The contents of the file: the hash of each preprocessed source by that of the version, what was compiled by name, and
    what was read of each function.
    """

    sources: Mapping[str, str] = field(default_factory=dict)
    compiled: Mapping[str, Raw] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)


def packed(sources: Mapping[str, str], compiled: Mapping[str, bytes], functions: Mapping[str, bytes]) -> bytes:
    """Return the bytes of the file: the same for the same entries."""
    entries = {name: Raw(entry) for name, entry in compiled.items()}
    held = Brought(sources=sources, compiled=entries, functions={name: text.decode() for name, text in functions.items()})
    return lzma.compress(msgspec.json.encode(held, order="sorted"), preset=9)


def unpacked(data: bytes | None) -> Brought:
    """Return what the file holds; nothing where there is none, or it is damaged: then all is compiled here."""
    try:
        return msgspec.json.decode(lzma.decompress(data), type=Brought) if data else Brought()
    except (lzma.LZMAError, EOFError, msgspec.MsgspecError):
        return Brought()
