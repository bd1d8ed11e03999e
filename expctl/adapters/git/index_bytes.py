"""Indexes of git as bytes: one of a few files, and facts noted in a large one, of which git reads and checks all each time."""

import hashlib
import os
import struct
from collections.abc import Iterator, Mapping, Sequence

from expctl.adapters.git.tree_changes import Change, Item

VERSION_2 = b"DIRC" + struct.pack(">I", 2)
HEAD = len(VERSION_2) + 4  # the number of entries
FACTS = struct.Struct(">10I")  # times of inode and contents in s and ns, device, inode, mode, owner, group, size
PARTS = b"link"  # the extension of an index, part of which is in another file
ALIGNED, LONGEST, LOW = 8, 0xFFF, 0xFFFF_FFFF
STAGES = 0x30  # bits that are set in the entries of a conflict, in the first byte behind the id


def index_of(entries: Mapping[str, Item]) -> bytes:
    """Return an index that has `entries` (path -> mode and blob; at least one) and says nothing about files on disk."""
    parts = [VERSION_2, struct.pack(">I", len(entries))]
    for name, item in sorted((_bytes(path), item) for path, item in entries.items()):
        entry = FACTS.pack(*_unknown(item)) + _named(name, item)
        parts.append(entry + bytes(ALIGNED - len(entry) % ALIGNED))
    return _sealed(b"".join(parts), entries)


def entries_in(index: bytes, like: str) -> dict[str, Item] | None:
    """Return path -> mode and blob of an index that a git process of ours has written; `like` is any id of the repository. None
    if it has another version, or is in parts.
    """
    if not _is_plain(index):
        return None
    found: dict[str, Item] = {}
    size = len(like) // 2
    for at, end in _entries(index, size):
        blob = at + FACTS.size
        mode = FACTS.unpack_from(index, at)[6]
        name = index[blob + size + 2 : end].decode(errors="surrogateescape")
        found[name] = Item(f"{mode:06o}", index[blob : blob + size].hex())
    return found


def is_as_before(index: bytes, changes: Sequence[Change]) -> bool:
    """Has `index`, for sure, each file of `changes` as it was before, nothing in the place of a new one, and no conflicts?"""
    if not _is_plain(index) or _has_conflicts(index, changes):
        return False
    for change in changes:
        name = _bytes(str(change.path))
        if change.old is None:
            if name + b"\0" in index:
                return False
            continue
        at = index.find(_named(name, change.old) + b"\0") - FACTS.size
        if at < HEAD or (at - HEAD) % ALIGNED or FACTS.unpack_from(index, at)[6] != int(change.old.mode, 8):
            return False
    return True


def with_facts(index: bytes, files: Mapping[str, tuple[Item, os.stat_result]]) -> bytes | None:
    """Return `index` with the facts on these `files`, of which it knows none so far. None where that isn't sure: it has another
    version, is in parts or damaged, or an entry is another one.
    """
    found = bytearray(index)
    for path, (item, facts) in files.items():
        at = index.find(_named(_bytes(path), item) + b"\0") - FACTS.size
        if at < HEAD or (at - HEAD) % ALIGNED or FACTS.unpack_from(index, at) != _unknown(item):
            return None
        times = (*divmod(facts.st_ctime_ns, 10**9), *divmod(facts.st_mtime_ns, 10**9))
        owner = (int(item.mode, 8), facts.st_uid, facts.st_gid, facts.st_size)
        FACTS.pack_into(found, at, *(each & LOW for each in (*times, facts.st_dev, facts.st_ino, *owner)))
    size = len(next(iter(files.values()))[0].blob) // 2 if files else 0
    items = {path: item for path, (item, _) in files.items()}
    is_sound = _is_plain(index) and _sealed(index[:-size], items) == index
    return _sealed(bytes(found[:-size]), items) if files and is_sound else None


def _entries(index: bytes, size: int) -> Iterator[tuple[int, int]]:
    """Yield of each entry where it begins and where its name ends; an id has `size` bytes. Raises ValueError on a cut index."""
    at = HEAD
    for _ in range(int.from_bytes(index[len(VERSION_2) : HEAD])):
        end = index.index(b"\0", at + FACTS.size + size + 2)
        yield at, end
        at = end + ALIGNED - (end - at) % ALIGNED


def _has_conflicts(index: bytes, changes: Sequence[Change]) -> bool:
    size = next(len(item.blob) // 2 for change in changes for item in (change.old, change.new) if item)
    flags = FACTS.size + size
    try:
        return any(index[at + flags] & STAGES for at, _ in _entries(index, size))
    except ValueError:
        return True


def _is_plain(index: bytes) -> bool:
    # The size of the extension follows, the first byte of which is zero.
    return index.startswith(VERSION_2) and PARTS + b"\0" not in index


def _unknown(item: Item) -> tuple[int, ...]:
    return (*[0] * 6, int(item.mode, 8), 0, 0, 0)


def _named(name: bytes, item: Item) -> bytes:
    return bytes.fromhex(item.blob) + struct.pack(">H", min(len(name), LONGEST)) + name


def _sealed(index: bytes, entries: Mapping[str, Item]) -> bytes:
    digest = hashlib.sha256 if any(len(each.blob) == 64 for each in entries.values()) else hashlib.sha1
    return index + digest(index, usedforsecurity=False).digest()


def _bytes(path: str) -> bytes:
    return path.encode(errors="surrogateescape")
