"""Make a commit of some files upon another commit: its objects in memory, stored by one git process.

`git unpack-objects` reads them as a pack, checks its hash and writes each object to a file of its own, flushed as for any other
command of git.
"""

import hashlib
import re
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath

from expctl.adapters.git.known_objects import FOLDER, Entry, KnownObjects, Tree
from expctl.adapters.git.tree_changes import Change, Item

FILE = b"100644"
KINDS = {"commit": 1, "tree": 2, "blob": 3}  # in a pack
GITS_DATE = re.compile(r"\d+ [+-]\d{4}")


class Objects:
    """New objects of a repository in which a commit has an id like `like` (40 hexadecimal digits: SHA-1, 64: SHA-256)."""

    def __init__(self, like: str) -> None:
        self._digest = hashlib.sha1 if len(like) == 40 else hashlib.sha256
        self._found: dict[bytes, tuple[str, bytes]] = {}
        self._trees: dict[bytes, Tree] = {}

    def add(self, kind: str, contents: bytes) -> bytes:
        """Add an object, a `commit`, `tree` or `blob`; return its id."""
        name = self._digest(b"%b %d\0" % (kind.encode(), len(contents)) + contents, usedforsecurity=False).digest()
        self._found[name] = (kind, contents)
        return name

    def add_tree(self, entries: Tree) -> bytes:
        """Add a tree with these entries, in any order; return its id."""
        # git sorts a folder as if its name ended in a slash
        lines = sorted(entries.items(), key=lambda item: item[0] + b"/" if item[1].mode == FOLDER else item[0])
        name = self.add("tree", b"".join([b"%b %b\0%b" % (entry.mode, name, entry.id) for name, entry in lines]))
        self._trees[name] = dict(lines)
        return name

    def take(self, others: "Objects") -> None:
        """Add all objects of others."""
        self._found |= others._found
        self._trees |= others._trees

    def ids(self) -> list[str]:
        """Return the ids of all of them."""
        return [name.hex() for name in self._found]

    def remember(self, known: KnownObjects) -> None:
        """Keep all of them in `known`."""
        for name, (kind, contents) in self._found.items():
            known.keep(name.hex(), kind.encode(), contents, self._trees.get(name))

    def pack(self) -> bytes:
        """Return all of them as a pack, in the order in which they were added."""
        parts = [b"PACK", struct.pack(">II", 2, len(self._found))]
        for kind, contents in self._found.values():
            # not compressed: git compresses them again, as the repository is configured
            parts += [_head(KINDS[kind], len(contents)), zlib.compress(contents, 0)]
        pack = b"".join(parts)
        return pack + self._digest(pack, usedforsecurity=False).digest()


def with_files(into: Objects, trees: Mapping[str, Tree], files: Mapping[str, bytes]) -> tuple[str, list[Change]]:
    """Add to `into` blobs of `files` (path -> contents), and a tree with them written into `trees`: folder ("" for the root) ->
    its entries, for each folder of a path that is there. Return the tree's id, and what differs. Raises FileExistsError where a
    folder would have to give way to a file, or a file to a folder; LookupError where a folder that is there is not in `trees`.
    """
    blobs = {_bytes(path): into.add("blob", contents) for path, contents in files.items()}
    if "" not in trees:
        raise LookupError("")
    tree = with_entries(into, trees, {path: Entry(FILE, blobs[_bytes(path)]) for path in files})
    changes: list[Change] = []
    for path in sorted(files, key=_bytes):  # as git lists them
        folder, _, name = path.rpartition("/")
        old, new = trees.get(folder, {}).get(_bytes(name)), Entry(FILE, blobs[_bytes(path)])
        if old != new:
            changes.append(Change(len(changes), PurePosixPath(path), item_of(old) if old else None, item_of(new)))
    return tree.hex(), changes


def with_entries(into: Objects, trees: Mapping[str, Tree], entries: Mapping[str, Entry | None]) -> bytes:
    """Add to `into` a tree with `entries` (path -> entry of a file, None: no file) written into `trees`, which are as for
    `with_files`; return its id. Raises as `with_files` does.
    """
    return _write(into, trees, "", {tuple(path.split("/")): entry for path, entry in entries.items()})


def _write(into: Objects, trees: Mapping[str, Tree], folder: str, files: Mapping[tuple[str, ...], Entry | None]) -> bytes:
    entries = dict(trees.get(folder, {}))
    below: dict[str, dict[tuple[str, ...], Entry | None]] = {}
    for (name, *rest), entry in files.items():
        found = entries.get(_bytes(name))
        if found is not None and (found.mode == FOLDER) is not bool(rest):
            raise FileExistsError(f"{folder}/{name}".lstrip("/"))
        if rest:
            below.setdefault(name, {})[tuple(rest)] = entry
        elif entry is not None:
            entries[_bytes(name)] = entry
        else:
            entries.pop(_bytes(name), None)
    for name, inside in below.items():
        path = f"{folder}/{name}".lstrip("/")
        if _bytes(name) in entries and path not in trees:
            raise LookupError(path)
        if written := _write(into, trees, path, inside):
            entries[_bytes(name)] = Entry(FOLDER, written)
        else:
            entries.pop(_bytes(name), None)
    if folder and not entries:
        return b""  # git keeps no empty folders
    return into.add_tree(entries)


def folders_of(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the folders that hold `paths`, directly or not, and "" for the root; a folder stands before those in it."""
    parts = [path.split("/")[:-1] for path in paths]
    return tuple(sorted({"", *("/".join(each[:end]) for each in parts for end in range(1, len(each) + 1))}))


def commit_text(tree: str, parents: Sequence[str], message: str, date: str, committer: str, author: str = "") -> bytes:
    """Return the contents of a commit at `date`: git's own form, or ISO 8601 with a zone. `committer` and `author` ("": the
    same) are each `Name <e-mail>`.
    """
    when = date if GITS_DATE.fullmatch(date) else f"{datetime.fromisoformat(date).timestamp():.0f} +0000"
    heads = [
        f"tree {tree}",
        *(f"parent {each}" for each in parents),
        f"author {author or committer} {when}",
        f"committer {committer} {when}",
    ]
    return "\n".join([*heads, "", message]).encode()


def item_of(entry: Entry) -> Item:
    """Return an entry of a tree as changes have it."""
    return Item(entry.mode.decode().zfill(6), entry.id.hex())


def _head(kind: int, size: int) -> bytes:
    # four bits of the size beside the kind, then seven a byte; the highest bit says that another byte follows
    found, size = bytearray([kind << 4 | size & 15]), size >> 4
    while size:
        found[-1] |= 128
        found.append(size & 127)
        size >>= 7
    return bytes(found)


def _bytes(name: str) -> bytes:
    return name.encode(errors="surrogateescape")
