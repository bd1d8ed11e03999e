"""Indexes of git as bytes: one of a few files, and facts noted in a large one, of which git reads and checks all each time."""

import hashlib
import os
import struct
from collections.abc import Iterable, Mapping

from expctl.adapters.git.tree_changes import Change, Item

VERSION_2 = b"DIRC" + struct.pack(">I", 2)
HEAD = len(VERSION_2) + 4  # the number of entries
FACTS = struct.Struct(">10I")  # times of inode and contents in s and ns, device, inode, mode, owner, group, size
PARTS = b"link"  # the extension of an index, part of which is in another file
ALIGNED, LONGEST, LOW = 8, 0xFFF, 0xFFFF_FFFF


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
    if not index.startswith(VERSION_2):
        return None
    found: dict[str, Item] = {}
    at, size = HEAD, len(like) // 2
    for _ in range(int.from_bytes(index[len(VERSION_2) : HEAD])):
        blob = at + FACTS.size
        name, end = blob + size + 2, index.index(b"\0", blob + size + 2)
        mode = FACTS.unpack_from(index, at)[6]
        found[index[name:end].decode(errors="surrogateescape")] = Item(f"{mode:06o}", index[blob : blob + size].hex())
        at = end + ALIGNED - (end - at) % ALIGNED
    return None if PARTS in index[at:] else found


def is_as_before(index: bytes, changes: Iterable[Change]) -> bool:
    """Has `index`, for sure, each file of `changes` as it was before, and nothing in the place of a new one?"""
    if not index.startswith(VERSION_2) or PARTS + b"\0" in index:
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
    is_sound = index.startswith(VERSION_2) and _sealed(index[:-size], items) == index
    return _sealed(bytes(found[:-size]), items) if files and is_sound else None


def _unknown(item: Item) -> tuple[int, ...]:
    return (*[0] * 6, int(item.mode, 8), 0, 0, 0)


def _named(name: bytes, item: Item) -> bytes:
    return bytes.fromhex(item.blob) + struct.pack(">H", min(len(name), LONGEST)) + name


def _sealed(index: bytes, entries: Mapping[str, Item]) -> bytes:
    digest = hashlib.sha256 if any(len(each.blob) == 64 for each in entries.values()) else hashlib.sha1
    return index + digest(index, usedforsecurity=False).digest()


def _bytes(path: str) -> bytes:
    return path.encode(errors="surrogateescape")
