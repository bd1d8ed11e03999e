"""Read clang's offload bundle: code objects of several GPUs in one file, as hipcc writes them.

Source: clang's documentation, "Clang Offload Bundler".
"""

import struct
from dataclasses import dataclass

from expctl.domain.errors import Refused
from expctl.domain.text import one_line
from expctl.inspection.readers.metadata import arch_of_target

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED = b"CCOB"
ENTRIES_MAX = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The code for one GPU, or for the host, in an offload bundle; `target` is e.g. hipv4-amdgcn-amd-amdhsa--gfx1151."""

    target: str
    contents: bytes

    @property
    def arch(self) -> str:
        """Return the GPU's architecture, e.g. gfx1151; "" for the part of the host CPU."""
        return arch_of_target(self.target) if self.target.startswith("hip") else ""


def is_bundle(data: bytes) -> bool:
    """Return whether `data` begins like an offload bundle, compressed or not."""
    return data.startswith((MAGIC, COMPRESSED))


def device_entry(data: bytes, arch: str, where: str) -> bytes:
    """Return the bytes of the code object for `arch` in the offload bundle `data`; "" stands for the only one. Raises Refused,
    naming the file `where`, for a compressed or damaged bundle, and unless exactly one code object fits.
    """
    if data.startswith(COMPRESSED):
        raise Refused(
            "this offload bundle is compressed",
            code="bundle-compressed",
            expected="a plain bundle or code object",
            found="a compressed bundle",
            where=where,
            hint="unpack it with clang-offload-bundler --unbundle, or compile with --no-offload-compress",
        )
    entries = [entry for entry in _entries(data, where) if entry.arch and entry.contents]
    fitting = [entry for entry in entries if arch in ("", entry.arch)]
    if len(fitting) != 1:
        raise Refused(
            f"this bundle has no code for {arch}" if arch else "this bundle does not hold code for exactly one GPU",
            code="gpu-not-in-bundle",
            expected=f"--arch with one of {', '.join(entry.arch for entry in entries) or 'none'}",
            found=f"--arch {arch}" if arch else f"code for {len(entries)} GPUs",
            where=where,
            hint="name a GPU of the bundle with --arch",
        )
    return fitting[0].contents


def _entries(data: bytes, where: str) -> list[Entry]:
    try:
        (count,) = struct.unpack_from("<Q", data, len(MAGIC))
        at, found = len(MAGIC) + 8, []
        for _ in range(min(count, ENTRIES_MAX)):
            offset, size, name_bytes = struct.unpack_from("<QQQ", data, at)
            name = data[at + 24 : at + 24 + name_bytes].decode()
            found.append(Entry(target=name, contents=data[offset : offset + size]))
            at += 24 + name_bytes
    except (struct.error, UnicodeDecodeError) as error:
        raise Refused(
            "this offload bundle is damaged",
            code="bundle-damaged",
            expected="a table of its entries, then their code objects",
            found=one_line(str(error), 100),
            where=where,
            hint="rebuild the file",
        ) from error
    return found
