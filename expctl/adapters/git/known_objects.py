"""Objects of a repository that this process has read or written, so that git isn't asked again: an id never means another one.

Only names that begin with a full id are kept, because they don't change either: COMMIT:PATH and TREE:PATH.
"""

import re
from typing import NamedTuple, TypeVar

FOLDER, SUBMODULE = b"40000", b"160000"
ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
ENTRIES = {40: rb"(?s)0*(\d+) ([^\0]+)\0(.{20})", 64: rb"(?s)0*(\d+) ([^\0]+)\0(.{32})"}
"""Entries of a tree, by the digits of an id: of SHA-1, of SHA-256."""
LARGEST, BYTES_MAX, NAMES_MAX, ENTRIES_MAX = 1 << 20, 1 << 25, 1 << 18, 1 << 17

LAST = 256  # trees and the like that are kept because they are asked for again soon
K = TypeVar("K")
V = TypeVar("V")


class Entry(NamedTuple):
    """What a tree holds under a name: mode, as bytes of octal digits without zeros in front, and id."""

    mode: bytes
    id: bytes


Tree = dict[bytes, Entry]


class KnownObjects:
    """A limited memory of objects, by id, and of what names lead to."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget all of them."""
        self._objects: dict[str, tuple[bytes, bytes]] = {}
        self._names: dict[str, str] = {}
        self._entries: dict[str, Tree] = {}
        self._bytes = self._entries_kept = 0

    def keep(self, object_id: str, kind: bytes, contents: bytes, entries: Tree | None = None) -> None:
        """Keep an object, unless it is large; of a tree also its `entries` in git's order, if they are known. All others are
        forgotten where they have become too many.
        """
        if len(contents) > LARGEST or object_id in self._objects:
            return
        self._bytes += len(contents)
        if self._bytes > BYTES_MAX:
            self._objects.clear()
            self._entries.clear()
            self._entries_kept, self._bytes = 0, len(contents)
        self._objects[object_id] = (kind, contents)
        if entries is not None:
            self._keep_entries(object_id, entries)

    def name(self, name: str, object_id: str) -> None:
        """Keep that `name` leads to an object; "": to none."""
        if ":" in name and ID.fullmatch(name.partition(":")[0]):
            if len(self._names) >= NAMES_MAX:
                self._names.clear()
            self._names[name] = object_id

    def id_of(self, name: str) -> str | None:
        """Return the id to which a name leads; "" if it is known that there is nothing, None if nothing is known."""
        kept = self._names.get(name)
        base, colon, path = name.partition(":")
        if kept is not None or not colon:
            return name if kept is None and ID.fullmatch(name) else kept
        found = self._names.get(f"{base}:", base)
        for part in filter(None, path.split("/")):
            entries = self.entries(found)
            if entries is None:
                return None
            entry = entries.get(part.encode(errors="surrogateescape"))
            if entry is None or entry.mode == SUBMODULE:
                return ""
            found = entry.id.hex()
        self.name(name, found)
        return found

    def get(self, object_id: str) -> tuple[bytes, bytes] | None:
        """Return kind and contents of an object; None if they aren't known."""
        return self._objects.get(object_id)

    def entries(self, tree: str) -> Tree | None:
        """Return name -> entry of a tree, by its id; None if its contents aren't known."""
        if tree not in self._entries:
            kind, contents = self._objects.get(tree, (b"", b""))
            if kind != b"tree":
                return None
            self._keep_entries(tree, entries_of(contents, tree))
        return self._entries[tree]

    def _keep_entries(self, tree: str, entries: Tree) -> None:
        if self._entries_kept > ENTRIES_MAX:
            self._entries.clear()
            self._entries_kept = 0
        self._entries[tree] = entries
        self._entries_kept += len(entries)


def keep_last(kept: dict[K, V], key: K, value: V) -> None:
    """Put `value` into `kept`, and forget what was put there longest ago once that are more than LAST."""
    kept[key] = value
    if len(kept) > LAST:
        del kept[next(iter(kept))]


def line(path: bytes, entry: Entry) -> bytes:
    """Return an entry of a tree as `git ls-tree -z` prints it, without the zero at its end."""
    kind = {FOLDER: b"tree", SUBMODULE: b"commit"}.get(entry.mode, b"blob")
    mode = entry.mode.zfill(6)
    if mode.startswith(b"100"):  # old tools wrote others, e.g. 100664
        mode = b"100755" if int(mode, 8) & 0o100 else b"100644"
    return b"%b %b %b\t%b" % (mode, kind, entry.id.hex().encode(), path)


def entries_of(tree: bytes, like: str) -> Tree:
    """Return name -> entry of the contents of a tree; `like` is any id of the same repository."""
    return {name: Entry(mode, found) for mode, name, found in re.findall(ENTRIES[len(like)], tree)}
