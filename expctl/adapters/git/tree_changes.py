"""Paths that differ between two git trees."""

from pathlib import PurePosixPath
from typing import NamedTuple

SUBMODULE = "160000"


class Item(NamedTuple):
    """What a git tree holds at a path: file mode and blob id."""

    mode: str
    blob: str


class Change(NamedTuple):
    """A path that differs between two git trees, with its entry in either (None: absent). `number` is its position in the list
    of all differing paths, in git's order.
    """

    number: int
    path: PurePosixPath
    old: Item | None
    new: Item | None


def changes_in(raw: str) -> list[Change]:
    """Return what `git diff-tree -r -z --raw --no-renames --no-abbrev` says in `raw`, without submodules."""
    words, found = raw.split("\0"), []
    for number, (head, path) in enumerate(zip(words[::2], words[1::2], strict=False)):
        old_mode, new_mode, old_blob, new_blob, _ = head.removeprefix(":").split()
        if SUBMODULE not in (old_mode, new_mode):
            found.append(Change(number, PurePosixPath(path), _item(old_mode, old_blob), _item(new_mode, new_blob)))
    return found


def _item(mode: str, blob: str) -> Item | None:
    return Item(mode, blob) if blob.strip("0") else None  # git writes zeros for an absent file
